import type { JSONWebKeySet } from 'jose';
import { Webhook, WebhookVerificationError } from 'standardwebhooks';
import type { Provider } from '../../domain/provider.ts';
import { readJson, readSignedDelivery, type SignedDelivery } from '../standard-webhooks.ts';
import { refusal, type WebhookVerifier } from '../webhook-verifier.ts';
import { readGeminiEvent } from './webhook-event.ts';
import { createTokenVerifier, isToken } from './webhook-token.ts';

export interface GeminiWebhookSettings {
  /** Of the webhook registered for the project. Any of them will do; none where only tokens are taken. */
  readonly secrets: readonly string[];
  /** Google's public keys; null where no tokens are taken. */
  readonly jwks: JSONWebKeySet | null;
  /** What `aud` of a token has to be; null for anything. */
  readonly audience: string | null;
}

/**
 * Events of Gemini (Gemini API docs, Webhooks). Those of a webhook registered for the project are signed after Standard
 * Webhooks; those of a webhook named when a batch was created bear a JWT as their signature.
 */
export function createGeminiWebhookVerifier(provider: Provider, settings: GeminiWebhookSettings): WebhookVerifier {
  const hooks = settings.secrets.map((secret) => new Webhook(secret));
  const verifyToken = settings.jwks === null ? null : createTokenVerifier(provider, settings.jwks, settings.audience);
  return {
    async verify(delivery) {
      if (isToken(delivery.headers.get('webhook-signature') ?? '')) {
        return verifyToken === null ? refusal('signature') : verifyToken(delivery);
      }
      const signed = readSignedDelivery(delivery);
      if (signed.kind === 'refused') return signed;
      if (!hooks.some((hook) => isSignedBy(hook, signed))) return refusal('signature');
      return readGeminiEvent(provider, readJson(signed.text), { eventId: signed.id, sentAt: signed.sentAt });
    },
  };
}

function isSignedBy(hook: Webhook, { id, sentAt, signature, text }: SignedDelivery): boolean {
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(sentAt.getTime() / 1000),
    'webhook-signature': signature,
  };
  try {
    hook.verify(text, headers, { jsonParse: false });
    return true;
  } catch (error) {
    if (error instanceof WebhookVerificationError) return false;
    throw error;
  }
}
