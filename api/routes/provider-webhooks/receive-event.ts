import { createRoute, z } from '@hono/zod-openapi';
import type { MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { ProviderEvent, ProviderEventHeaders, ProviderEventHeard } from '../../../contracts/provider-event.ts';
import { GATEWAY_SCOPE, inScope } from '../../../db/row-scope.ts';
import { GatewayError } from '../../../domain/gateway-error.ts';
import type { WebhookRefusal, WebhookVerifier } from '../../../providers/webhooks.ts';
import type { ApiDependencies } from '../../dependencies.ts';
import type { ApiApp, ApiEnv } from '../../env.ts';
import { noSuchPath } from '../../errors.ts';
import { hearProvider } from '../../operations/hear-provider.ts';
import { temporalAway } from '../../operations/temporal-away.ts';
import { jsonResponse, keylessErrorResponses, referTo } from '../../responses.ts';

/** Events of batches are a few hundred bytes. */
const MAX_BYTES = 64 * 1024;

const REFUSALS: { readonly [reason in WebhookRefusal['reason']]: string } = {
  signature: 'The signature is not one of this provider’s.',
  stale: 'The delivery is more than five minutes old, or from the future. Check the clocks on both sides.',
  malformed: 'This is no signed event: the headers webhook-id, webhook-timestamp and webhook-signature, and JSON.',
};

const route = createRoute({
  tags: ['Provider webhooks'],
  security: [],
  operationId: 'receive_provider_event',
  summary: 'For providers: tell that a batch moved',
  description:
    'A verified event is a reason to ask the provider at once and nothing more. The answer is the same for an event that is new, doubled, or about a batch that is not known. Where no secret of the provider is configured the path does not exist.',
  method: 'post',
  path: '/provider-webhooks/{provider}',
  request: {
    params: z.object({ provider: z.string() }),
    headers: ProviderEventHeaders,
    // Referred to rather than validated: the signature covers the bytes.
    body: { required: true, content: { 'application/json': { schema: referTo('ProviderEvent') } } },
  },
  responses: { 200: jsonResponse(ProviderEventHeard, 'Heard.'), ...keylessErrorResponses(404, 413) },
});

export function registerReceiveEvent(app: ApiApp, dependencies: ApiDependencies): void {
  app.openAPIRegistry.register('ProviderEvent', ProviderEvent);
  app.on('POST', route.getRoutingPath(), requireVerifier(dependencies), limitBody);
  app.openapi(route, async (c) => {
    const { provider } = c.req.valid('param');
    const verdict = await verifierOf(dependencies, provider).verify({
      headers: c.req.raw.headers,
      body: new Uint8Array(await c.req.arrayBuffer()),
    });
    if (verdict.kind === 'refused') {
      c.set('logged', { provider, outcome: `refused_${verdict.reason}` });
      throw new GatewayError('webhook_signature_invalid', REFUSALS[verdict.reason]);
    }
    const outcome = await inScope(GATEWAY_SCOPE, () => hearProvider(dependencies, verdict));
    c.set('logged', { provider, event_type: verdict.type, outcome });
    if (outcome === 'unreachable') throw temporalAway();
    return c.json({}, 200);
  });
}

/** Before the body is looked at, so that the answer is that of a path which is not there, whatever is sent. */
function requireVerifier(dependencies: ApiDependencies): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    verifierOf(dependencies, c.req.param('provider') ?? '');
    await next();
  };
}

const limitBody = bodyLimit({
  maxSize: MAX_BYTES,
  onError: () => {
    throw new GatewayError('request_too_large', `An event may have at most ${MAX_BYTES} bytes.`);
  },
});

function verifierOf({ providerWebhooks }: ApiDependencies, provider: string): WebhookVerifier {
  const verifier = providerWebhooks.get(provider);
  if (verifier === undefined) throw noSuchPath();
  return verifier;
}
