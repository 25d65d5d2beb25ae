import type { Provider } from '../domain/provider.ts';

/** Checks what claims to come from a provider. Never throws for anything a stranger can send. */
export interface WebhookVerifier {
  verify(delivery: WebhookDelivery): Promise<WebhookEvent | WebhookRefusal>;
}

/** A request as it arrived: signatures cover the very bytes. */
export interface WebhookDelivery {
  readonly headers: Headers;
  readonly body: Uint8Array;
}

/** What a verified delivery says. It is a hint: whatever it tells of a batch, the provider is asked. */
export interface WebhookEvent {
  readonly kind: 'event';
  readonly provider: Provider;
  /** The same in every delivery of one event, and covered by the signature. */
  readonly eventId: string;
  /** The provider's own word, such as `batch.completed`. */
  readonly type: string;
  /** As {@link NativeBatch} names the batch; null for events of anything else. */
  readonly providerBatchId: string | null;
  readonly sentAt: Date;
}

/**
 * - `signature`: not signed by a key that is known here. `stale`: signed for another time than now.
 * - `malformed`: no delivery of this provider, whoever signed it.
 */
export interface WebhookRefusal {
  readonly kind: 'refused';
  readonly reason: 'signature' | 'stale' | 'malformed';
}

export function refusal(reason: WebhookRefusal['reason']): WebhookRefusal {
  return { kind: 'refused', reason };
}
