import { createRoute, type RouteConfig } from '@hono/zod-openapi';
import { cors } from 'hono/cors';
import { CodecPayloads } from '../../../contracts/payload-codec.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import { type ApiApp, newApiApp } from '../../env.ts';
import { allow, OPERATOR_ROLES } from '../../middleware/allow.ts';
import { readJsonBody } from '../../middleware/read-json-body.ts';
import { decodePayloads, encodePayloads } from '../../operations/payload-codec.ts';
import { errorResponses, jsonBody, jsonResponse } from '../../responses.ts';
import { OPERATOR_ROUTE } from '../operator/paths.ts';

/** A page of a history, with inputs of two megabytes each. */
const MAX_BODY_BYTES = 32 * 1024 ** 2;
const PREFLIGHT_SECONDS = 600;

const CODEC_ROUTE = {
  ...OPERATOR_ROUTE,
  method: 'post' as const,
  middleware: [allow({ roles: OPERATOR_ROLES, scope: 'operator:read' }), readJsonBody(MAX_BODY_BYTES)] as const,
  request: { body: jsonBody(CodecPayloads, { required: true }) },
} satisfies Partial<RouteConfig>;

const decodeRoute = createRoute({
  ...CODEC_ROUTE,
  operationId: 'codec_decode',
  summary: 'Open payloads of Temporal',
  description: 'For Temporal’s Web UI and command line, as their codec server.',
  path: '/codec/decode',
  responses: { 200: jsonResponse(CodecPayloads, 'The payloads in clear.'), ...errorResponses(413, 415, 422) },
});

const encodeRoute = createRoute({
  ...CODEC_ROUTE,
  operationId: 'codec_encode',
  summary: 'Seal payloads for Temporal',
  description: 'For Temporal’s Web UI and command line, as their codec server.',
  path: '/codec/encode',
  responses: { 200: jsonResponse(CodecPayloads, 'The payloads, sealed.'), ...errorResponses(413, 415, 422) },
});

/** `/codec`: what Temporal's tools read sealed payloads by. */
export function codecRouter(dependencies: ApiDependencies): ApiApp {
  const app = newApiApp();
  app.openapi(decodeRoute, async (c) => c.json(await decodePayloads(dependencies, c.req.valid('json')), 200));
  app.openapi(encodeRoute, async (c) => c.json(await encodePayloads(dependencies, c.req.valid('json')), 200));
  return app;
}

/** Lets the pages of the Web UI, and of no other origin, call. Before a key is asked for: a preflight brings none. */
export function allowTemporalUi({ temporalUi }: Pick<ApiDependencies, 'temporalUi'>) {
  const origin = temporalUi === null ? [] : [new URL(temporalUi.url).origin];
  return cors({
    origin,
    allowMethods: ['POST'],
    allowHeaders: ['authorization', 'content-type', 'x-namespace'],
    credentials: true,
    maxAge: PREFLIGHT_SECONDS,
  });
}
