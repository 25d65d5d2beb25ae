import { createRoute } from '@hono/zod-openapi';
import { IdempotencyHeader } from '../../../contracts/headers.ts';
import { JobWebhookSecret, RotateWebhookSecret, WebhookSecretRotated } from '../../../contracts/webhook.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp } from '../../env.ts';
import { idempotencyOf } from '../../middleware/idempotency.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { getJobWebhookSecret, rotateJobWebhookSecret } from '../../operations/job-webhook-secret.ts';
import { rotateEndpointSecret } from '../../operations/webhook-endpoints.ts';
import { keptAnswer } from '../../respond.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import {
  ENDPOINT,
  EndpointParams,
  endpointHolders,
  JOB_SECRET,
  MAX_BODY_BYTES,
  tenantsOnly,
  WEBHOOK_ROUTE,
} from './paths.ts';

const getSecretRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'get_job_webhook_secret',
  summary: 'Whether there is a secret for the webhooks of jobs',
  description: 'Never the secret itself.',
  method: 'get',
  path: JOB_SECRET,
  middleware: tenantsOnly,
  responses: { 200: jsonResponse(JobWebhookSecret, 'What is known of it.'), ...errorResponses() },
});

const rotateJobSecretRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'rotate_job_webhook_secret',
  summary: 'Make or replace the secret for the webhooks of jobs',
  description:
    'One for all jobs made with keys of the same tenant, project and customer as this one. The answer holds it; it is not ' +
    'shown again.',
  method: 'post',
  path: `${JOB_SECRET}/rotate`,
  middleware: [tenantsOnly, readJsonBody(MAX_BODY_BYTES)] as const,
  request: { headers: IdempotencyHeader, body: jsonBody(RotateWebhookSecret, { required: true }) },
  responses: { 200: jsonResponse(WebhookSecretRotated, 'The new secret.'), ...errorResponses(409, 413, 415, 422) },
});

const rotateRoute = createRoute({
  ...WEBHOOK_ROUTE,
  operationId: 'rotate_webhook_secret',
  summary: 'Replace the secret of a webhook endpoint',
  description: 'Calls bear the signatures of both secrets while the one before holds. The new one is not shown again.',
  method: 'post',
  path: `${ENDPOINT}/rotate-secret`,
  middleware: [endpointHolders, readJsonBody(MAX_BODY_BYTES)] as const,
  request: {
    params: EndpointParams,
    headers: IdempotencyHeader,
    body: jsonBody(RotateWebhookSecret, { required: true }),
  },
  responses: {
    200: jsonResponse(WebhookSecretRotated, 'The new secret.'),
    ...errorResponses(404, 409, 413, 415, 422),
  },
});

export function registerSecrets(app: ApiApp, dependencies: ApiDependencies): void {
  app.openapi(getSecretRoute, async (c) => c.json(await getJobWebhookSecret(dependencies, c.var.principal), 200));
  app.openapi(rotateJobSecretRoute, async (c) => {
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, rotation: c.req.valid('json'), idempotency };
    return keptAnswer(c, await rotateJobWebhookSecret(dependencies, request), 200);
  });
  app.openapi(rotateRoute, async (c) => {
    const { endpoint_id: endpointId } = c.req.valid('param');
    const idempotency = idempotencyOf(c, dependencies.now());
    const request = { principal: c.var.principal, endpointId, rotation: c.req.valid('json'), idempotency };
    return keptAnswer(c, await rotateEndpointSecret(dependencies, request), 200);
  });
}
