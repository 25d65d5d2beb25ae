import { GatewayError } from './gateway-error.ts';
import type { TenantPolicy } from './tenant-policy.ts';

/** What a tenant holds, as far as its policy caps it. */
export interface Holdings {
  /** Jobs that no submission of which was accepted yet. */
  readonly drafts: number;
  /** Items of jobs that have not ended. */
  readonly openItems: number;
  /** Bytes of requests and results; 0 where the policy does not cap them. */
  readonly storedBytes: number;
}

export type Caps = Pick<TenantPolicy, 'maxDrafts' | 'maxOpenItems' | 'maxStoredBytes'>;

/** What a call adds. A member that is 0 or less is not judged: whoever takes away is never refused. */
export type Growth = Holdings;

export const NO_GROWTH: Growth = { drafts: 0, openItems: 0, storedBytes: 0 };

/**
 * Why a tenant may not hold so much, or null. `held` is with the growth; the message names the limit, what is held without it
 * and what makes room.
 */
export function findExcess(held: Holdings, growth: Growth, caps: Caps): GatewayError | null {
  const isOver = (name: keyof Holdings, cap: number | null) => growth[name] > 0 && cap !== null && held[name] > cap;
  const before = (name: keyof Holdings) => held[name] - growth[name];
  if (isOver('drafts', caps.maxDrafts)) {
    return refusal(
      `This account may have ${caps.maxDrafts} drafts and has ${before('drafts')}.`,
      'A draft that is accepted, cancelled or deleted makes room',
    );
  }
  if (isOver('openItems', caps.maxOpenItems)) {
    return refusal(
      `This account may have ${caps.maxOpenItems} items in jobs that have not ended. It has ${before('openItems')}, and this would add ${growth.openItems}.`,
      'A job that ends, and a draft that is cancelled or deleted, makes room',
    );
  }
  if (isOver('storedBytes', caps.maxStoredBytes)) {
    return refusal(
      `This account may have ${caps.maxStoredBytes} bytes of requests and results stored. It has ${before('storedBytes')}, and this would add ${growth.storedBytes}.`,
      'Deleting a job, or the end of its retention, makes room',
    );
  }
  return null;
}

function refusal(what: string, remedy: string): GatewayError {
  return new GatewayError('quota_exceeded', `${what} Nothing was stored. ${remedy}.`);
}
