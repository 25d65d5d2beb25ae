import type { Clock } from './clock.ts';
import type { FaultAction } from './fault-actions.ts';
import type { Faults } from './faults.ts';
import type { Facts, Journal } from './journal.ts';

const LONGEST_RETRY_MS = 3_600_000;
const ANSWER_WITHIN_MS = 10_000;

/** A message to sign; the timestamp is unix seconds, and a forged one has to fail every check. */
export interface UnsignedMessage {
  id: string;
  timestampS: number;
  body: string;
  isForged: boolean;
}

export interface WebhookTarget {
  url: string;
  /** The headers that identify a message and prove where it is from. */
  sign(message: UnsignedMessage): Record<string, string>;
  /** Delay before the second attempt; doubles from there. */
  retryBaseMs: number;
}

interface Delivery {
  id: string;
  body: string;
  facts: Facts;
  target: WebhookTarget;
  since: number;
  attempt: number;
  isForgotten: () => boolean;
}

export interface WebhookSender {
  /**
   * Delivers at least once: the same id and body again, with growing delays, until a 2xx answer. Goes to the usual
   * target unless others are named.
   */
  send(event: { id: string; body: string; facts: Facts }, targets?: readonly WebhookTarget[]): void;
  /** Gives up all deliveries under way. */
  forget(): void;
}

/** Every attempt is in the journal, and meets faults, under the name `webhook:deliver`. */
export function createWebhookSender(parts: {
  provider: string;
  clock: Clock;
  faults: Faults;
  journal: Journal;
  target: () => WebhookTarget | undefined;
  giveUpAfterMs: number;
}): WebhookSender {
  const { provider, clock, faults, journal } = parts;
  let era = 0;

  const post = async (delivery: Delivery, action: FaultAction) => {
    const { id, body, target, facts } = delivery;
    const entry = journal.open({
      provider,
      route: 'webhook:deliver',
      method: 'POST',
      path: target.url,
      facts: { ...facts, webhook_id: id, attempt: delivery.attempt },
    });
    if (Object.keys(action).length > 0) entry.fault = Object.keys(action);
    // Receivers compare the timestamp with the true time, so the simulators' clock has no say in it.
    const timestampS = Math.floor(Date.now() / 1000) + (action.timestamp_shift_s ?? 0);
    const isForged = action.bad_signature === true;
    const status = await fetch(target.url, {
      method: 'POST',
      redirect: 'manual',
      headers: { 'content-type': 'application/json', ...target.sign({ id, timestampS, body, isForged }) },
      body,
      signal: AbortSignal.timeout(ANSWER_WITHIN_MS),
    }).then(
      async (response) => {
        await response.body?.cancel();
        return response.status;
      },
      () => undefined,
    );
    journal.end(entry, status);
    return status !== undefined && status >= 200 && status < 300;
  };

  const retryLater = (delivery: Delivery) => {
    const delayMs = Math.min(delivery.target.retryBaseMs * 2 ** (delivery.attempt - 1), LONGEST_RETRY_MS);
    if (clock.now() + delayMs - delivery.since > parts.giveUpAfterMs) return;
    clock.at(clock.now() + delayMs, () => void attempt({ ...delivery, attempt: delivery.attempt + 1 }));
  };

  const attempt = async (delivery: Delivery) => {
    if (delivery.isForgotten()) return;
    const action = faults.take(provider, 'webhook:deliver', { ...delivery.facts, attempt: delivery.attempt });
    if (action.lost) return;
    if (action.delay_ms !== undefined) await clock.sleep(action.delay_ms);
    if (delivery.isForgotten()) return;
    const accepted = await post(delivery, action);
    if (action.doubled) await post(delivery, action);
    if (!accepted) retryLater(delivery);
  };

  return {
    send(event, targets = [parts.target()].filter((target) => target !== undefined)) {
      const born = era;
      const isForgotten = () => born !== era;
      for (const target of targets) {
        void attempt({ ...event, target, since: clock.now(), attempt: 1, isForgotten });
      }
    },
    forget() {
      era += 1;
    },
  };
}
