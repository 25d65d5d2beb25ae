import { expect, test } from 'vitest';
import { GatewayError } from '../../domain/gateway-error.ts';
import { UploadSlots } from './upload-slots.ts';

function refusal(work: () => unknown): GatewayError {
  try {
    work();
  } catch (error) {
    if (error instanceof GatewayError) return error;
  }
  throw new Error('nothing was refused');
}

test('a tenant has so many places, and all tenants together so many', () => {
  const slots = new UploadSlots(3);
  const giveBack = slots.take('a', 2);
  slots.take('a', 2);
  const ofTenant = refusal(() => slots.take('a', 2));
  expect(ofTenant).toMatchObject({ code: 'concurrency_limit', retryAfterSeconds: 5 });
  expect(ofTenant.message).toContain('has 2 uploads under way here, and may have 2');
  slots.take('b', 2);
  expect(refusal(() => slots.take('c', 2)).message).toContain('has 3 uploads under way, and takes 3');
  giveBack();
  giveBack();
  expect(slots.total).toBe(2);
  slots.take('c', 2);
  expect(refusal(() => slots.take('c', 2)).code).toBe('concurrency_limit');
});
