import type { MiddlewareHandler } from 'hono';
import { every } from 'hono/combine';
import { GatewayError } from '../../domain/gateway-error.ts';
import { classOfCall, isWithinRate, type RateStanding, rateLimitHeaders } from '../../domain/rate-limit.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ApiContext, ApiEnv } from '../env.ts';
import { clientAddress } from '../limits/client-address.ts';
import { keyRateLimited } from '../limits/request-limits.ts';

type Limited = Pick<ApiDependencies, 'limits'>;

const MAX_KEY_CHARS = 256;
/** Items and documents come in on these. */
const BRINGS_ITEMS = /\/(?:items|manifest|documents)$/;

/**
 * `authenticate` between two limits. Before it, without a question to the database: a key that used up its rate, and an
 * address that tried too many bad keys. After it the call of a good key is counted, and a bad one against its address.
 */
export function limitRequests(
  dependencies: Limited,
  authenticate: MiddlewareHandler<ApiEnv>,
): MiddlewareHandler<ApiEnv> {
  return every(refuseKnown(dependencies), countBadKeys(dependencies), authenticate, countCalls(dependencies));
}

function refuseKnown(dependencies: Limited): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { limits } = dependencies;
    const key = keyOf(c);
    const refused = limits.findRefusedKey(key);
    if (refused !== null) refuse(c, refused);
    limits.requireAddress(key, clientAddress(c, limits.settings.trustedProxies));
    await next();
  };
}

function countBadKeys(dependencies: Limited): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const { limits } = dependencies;
    const note = () => limits.noteBadKey(keyOf(c), clientAddress(c, limits.settings.trustedProxies));
    try {
      await next();
    } catch (error) {
      if (error instanceof GatewayError && error.code === 'unauthorized') await note();
      throw error;
    }
  };
}

function countCalls(dependencies: Limited): MiddlewareHandler<ApiEnv> {
  return async (c, next) => {
    const call = classOfCall(c.req.method, BRINGS_ITEMS.test(c.req.path));
    const standing = await dependencies.limits.countCall(keyOf(c), c.var.principal, call);
    if (!isWithinRate(standing)) refuse(c, standing);
    tell(c, standing);
    await next();
  };
}

function refuse(c: ApiContext, standing: RateStanding): never {
  tell(c, standing);
  throw keyRateLimited(standing);
}

function tell(c: ApiContext, standing: RateStanding): void {
  for (const [name, value] of Object.entries(rateLimitHeaders(standing))) c.header(name, value);
}

/** Whatever was sent as one; it need not be a key. */
function keyOf(c: ApiContext): string {
  return /(\S*)\s*$/.exec(c.req.header('authorization')?.slice(-MAX_KEY_CHARS) ?? '')?.[1] ?? '';
}
