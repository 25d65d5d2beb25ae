import { InvalidWebhookSignatureError, OpenAI } from 'openai';
import type { Provider } from '../../domain/provider.ts';
import { readEnvelope, readJson, readSignedDelivery, WEBHOOK_TOLERANCE_S } from '../standard-webhooks.ts';
import { refusal, type WebhookVerifier } from '../webhook-verifier.ts';

/**
 * Events of OpenAI, or of a provider that signs like it, by the official SDK: HMAC-SHA256 over id, timestamp and body,
 * under any of the secrets, so that one can be replaced while the other still holds. The payload is thin: type and
 * `data.id` (openai SDK types, `BatchCompletedWebhookEvent`).
 */
export function createOpenAiWebhookVerifier(provider: Provider, secrets: readonly string[]): WebhookVerifier {
  // Nothing is ever sent by this client.
  const { webhooks } = new OpenAI({ apiKey: 'none' });

  async function isSigned(text: string, headers: Headers): Promise<boolean> {
    for (const secret of secrets) {
      try {
        await webhooks.verifySignature(text, headers, secret, WEBHOOK_TOLERANCE_S);
        return true;
      } catch (error) {
        if (!(error instanceof InvalidWebhookSignatureError)) throw error;
      }
    }
    return false;
  }

  return {
    async verify(delivery) {
      const signed = readSignedDelivery(delivery);
      if (signed.kind === 'refused') return signed;
      if (!(await isSigned(signed.text, delivery.headers))) return refusal('signature');
      const envelope = readEnvelope(readJson(signed.text));
      if (envelope === null) return refusal('malformed');
      const { type, batchId } = envelope;
      return { kind: 'event', provider, eventId: signed.id, type, providerBatchId: batchId, sentAt: signed.sentAt };
    },
  };
}
