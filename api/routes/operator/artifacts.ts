import { createRoute, z } from '@hono/zod-openapi';
import { ArtifactList } from '../../../contracts/artifact.ts';
import { JobId } from '../../../contracts/job.ts';
import { PageQuery } from '../../../contracts/pagination.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { ArtifactPlaceParams, listJobArtifacts, readArtifact, toPlace } from '../../operations/artifacts.ts';
import { streamBytes } from '../../respond.ts';
import { errorResponses, jsonResponse } from '../../responses.ts';
import { JobParams } from '../jobs/paths.ts';
import { OPERATOR_ROUTE, operatorsOnly } from './paths.ts';

const ARTIFACTS = '/v1/operator/jobs/{job_id}/artifacts';

const listRoute = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_list_artifacts',
  summary: 'Copies of the providers’ result files of a job',
  method: 'get',
  path: ARTIFACTS,
  middleware: operatorsOnly,
  request: { params: JobParams, query: z.strictObject(PageQuery) },
  responses: { 200: jsonResponse(ArtifactList, 'The copies.'), ...errorResponses(404) },
});

const getRoute = createRoute({
  ...OPERATOR_ROUTE,
  operationId: 'operator_get_artifact',
  summary: 'A provider’s result file, byte for byte',
  description: 'It holds a tenant’s content: every reading is in the audit log.',
  method: 'get',
  path: `${ARTIFACTS}/{shard}/{attempt}/{file}`,
  middleware: operatorsOnly,
  request: { params: ArtifactPlaceParams.extend({ job_id: JobId }) },
  responses: {
    200: {
      description: 'The bytes as the provider sent them.',
      content: { 'application/octet-stream': { schema: { type: 'string', format: 'binary' } } },
    },
    ...errorResponses(404, 410),
  },
});

export function registerOperatorArtifacts(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(listRoute, async (c) => {
    const { job_id: jobId } = c.req.valid('param');
    return c.json(await listJobArtifacts(dependencies, { jobId, ...c.req.valid('query') }), 200);
  });
  app.openapi(getRoute, async (c) => {
    const { job_id: jobId, ...params } = c.req.valid('param');
    const place = toPlace(params);
    if (place === null) throw new GatewayError('not_found', 'The job has no such artifact.');
    const request = { principal: c.var.principal, jobId, place, signal: c.req.raw.signal };
    const bytes = await readArtifact(dependencies, request);
    const name = `${jobId}-${place.shard}-${place.attempt}-${place.file}.jsonl`;
    return streamBytes(c, bytes, {
      'Content-Type': 'application/octet-stream',
      'Content-Disposition': `attachment; filename="${name}"`,
    });
  });
}
