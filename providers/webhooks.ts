import type { Provider } from '../domain/provider.ts';
import { createGeminiWebhookVerifier, type GeminiWebhookSettings } from './gemini/webhook.ts';
import { createOpenAiWebhookVerifier } from './openai/webhook.ts';
import type { WebhookVerifier } from './webhook-verifier.ts';

export type { WebhookEvent, WebhookRefusal, WebhookVerifier } from './webhook-verifier.ts';

export interface WebhookSettings {
  /** Signing secrets of OpenAI and of providers that sign like it, any of which will do; none where no events are taken. */
  readonly signedLikeOpenAi: ReadonlyMap<Provider, readonly string[]>;
  readonly gemini: GeminiWebhookSettings;
}

/** A verifier for each provider whose events are taken. Anthropic has no events of batches (Anthropic SDK types). */
export function createWebhookVerifiers(settings: WebhookSettings): ReadonlyMap<Provider, WebhookVerifier> {
  const { signedLikeOpenAi, gemini } = settings;
  const verifiers = new Map<Provider, WebhookVerifier>();
  for (const [provider, secrets] of signedLikeOpenAi) {
    if (secrets.length > 0) verifiers.set(provider, createOpenAiWebhookVerifier(provider, secrets));
  }
  if (gemini.secrets.length > 0 || gemini.jwks !== null) {
    verifiers.set('gemini', createGeminiWebhookVerifier('gemini', gemini));
  }
  return verifiers;
}
