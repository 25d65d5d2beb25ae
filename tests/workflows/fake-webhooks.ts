import type { DeliveryStep, WebhookActivities } from '../../activities/interfaces.ts';

export const DELIVERED: DeliveryStep = { kind: 'over', state: 'delivered' };
export const ABANDONED: DeliveryStep = { kind: 'over', state: 'abandoned' };

export function again(delayMs: number): DeliveryStep {
  return { kind: 'again', delayMs };
}

/** What the attempts of deliveries answer, each from the front; beyond the list they are delivered. */
export class FakeWebhooks {
  readonly #scripts = new Map<string, readonly DeliveryStep[]>();
  readonly #attempts = new Map<string, number>();
  /** Awaited in each attempt, once it is counted. */
  held: Promise<unknown> = Promise.resolve();

  add(deliveryId: string, script: readonly DeliveryStep[]): void {
    this.#scripts.set(deliveryId, script);
  }

  attemptsOf(deliveryId: string): number {
    return this.#attempts.get(deliveryId) ?? 0;
  }

  activities(): WebhookActivities {
    return {
      deliverWebhook: async ({ deliveryId }) => {
        const before = this.attemptsOf(deliveryId);
        this.#attempts.set(deliveryId, before + 1);
        const step = this.#scripts.get(deliveryId)?.[before] ?? DELIVERED;
        await this.held;
        return step;
      },
    };
  }
}
