import { createHash } from 'node:crypto';
import { createLocalJWKSet, errors, type JSONWebKeySet, type JWTPayload, jwtVerify } from 'jose';
import type { Provider } from '../../domain/provider.ts';
import { isFresh, readEnvelope, readJson, readText, readTimestamp, WEBHOOK_TOLERANCE_S } from '../standard-webhooks.ts';
import { refusal, type WebhookDelivery, type WebhookEvent, type WebhookRefusal } from '../webhook-verifier.ts';
import { readGeminiEvent } from './webhook-event.ts';

const TOKEN = /^[\w-]+\.[\w-]+\.[\w-]*$/;
const EVENT_ID = /^[!-~]{1,200}$/;
const BODY_HASH_CLAIM = /^(body|payload)_?(sha_?256|hash|digest)$/i;
const TIME_CLAIMS: readonly string[] = ['exp', 'nbf'];

/** Whether a `webhook-signature` is a signed token rather than a list of `v1,…`. */
export function isToken(signature: string): boolean {
  return TOKEN.test(signature);
}

/**
 * Checks the RS256 JWT in `webhook-signature` against Google's public keys, offline. The Gemini API docs name the header,
 * the algorithm, the keys and an audience, and say nothing of the other claims. Hence: `iat` is required, since a token
 * that says no time could be sent again for ever; an event in the claims counts rather than the body; and a hash of the
 * body among the claims has to be that of the body. A token with neither proves only that Google sent one just now, which
 * is enough for a reason to poll.
 */
export function createTokenVerifier(
  provider: Provider,
  jwks: JSONWebKeySet,
  audience: string | null,
): (delivery: WebhookDelivery) => Promise<WebhookEvent | WebhookRefusal> {
  const keys = createLocalJWKSet(jwks);
  const options = {
    algorithms: ['RS256'],
    requiredClaims: ['iat'],
    clockTolerance: WEBHOOK_TOLERANCE_S,
    ...(audience !== null && { audience }),
  };
  return async (delivery) => {
    const token = delivery.headers.get('webhook-signature') ?? '';
    try {
      const { payload } = await jwtVerify(token, keys, options);
      return readClaims(provider, delivery, token, payload);
    } catch (error) {
      if (error instanceof errors.JOSEError) return refusal(reasonOf(error));
      throw error;
    }
  };
}

function readClaims(
  provider: Provider,
  delivery: WebhookDelivery,
  token: string,
  claims: JWTPayload,
): WebhookEvent | WebhookRefusal {
  const sentAt = new Date((claims.iat ?? Number.NaN) * 1000);
  const headerSentAt = delivery.headers.has('webhook-timestamp') ? readTimestamp(delivery.headers) : sentAt;
  if (headerSentAt === null) return refusal('malformed');
  if (!isFresh(sentAt) || !isFresh(headerSentAt)) return refusal('stale');
  if (!bodyIsAsClaimed(delivery.body, claims)) return refusal('signature');
  if (readEnvelope(claims) !== null) {
    return readGeminiEvent(provider, claims, { eventId: identify(claims.jti, textOfEvent(claims)), sentAt });
  }
  const signedPart = token.slice(0, token.lastIndexOf('.'));
  const proof = { eventId: identify(claims.jti, signedPart), sentAt };
  return readGeminiEvent(provider, readJson(readText(delivery.body) ?? ''), proof);
}

/** Holds too where the claims say nothing of the body. */
function bodyIsAsClaimed(body: Uint8Array, claims: JWTPayload): boolean {
  const hash = createHash('sha256').update(body).digest();
  const texts = [hash.toString('hex'), hash.toString('base64'), hash.toString('base64url')];
  return Object.entries(claims)
    .filter(([name]) => BODY_HASH_CLAIM.test(name))
    .every(([, value]) => typeof value === 'string' && texts.includes(value));
}

/** Without what differs between two deliveries of one event. */
function textOfEvent({ iat: _iat, exp: _exp, nbf: _nbf, ...event }: JWTPayload): string {
  return JSON.stringify(event);
}

/** Of what was signed alone: the `webhook-id` beside a token could be any, and so could the last bits of its signature. */
function identify(jti: unknown, signed: string): string {
  if (typeof jti === 'string' && EVENT_ID.test(jti)) return `jti:${jti}`;
  return `jwt:${createHash('sha256').update(signed).digest('base64url')}`;
}

function reasonOf(error: errors.JOSEError): WebhookRefusal['reason'] {
  if (error instanceof errors.JWTExpired) return 'stale';
  if (error instanceof errors.JWTClaimValidationFailed) {
    if (error.claim === 'aud') return 'signature';
    return TIME_CLAIMS.includes(error.claim) ? 'stale' : 'malformed';
  }
  const isMalformed = error instanceof errors.JWSInvalid || error instanceof errors.JWTInvalid;
  return isMalformed ? 'malformed' : 'signature';
}
