import { expect, test } from 'vitest';
import { GatewayError } from '../../domain/gateway-error.ts';
import { TaskStarts } from './task-starts.ts';

test('who comes when all places are taken gets the next that is given back, in order of coming', async () => {
  const starts = new TaskStarts(1, 10_000);
  const giveBack = await starts.take();
  const order: number[] = [];
  const second = starts.take().then((give) => {
    order.push(2);
    give();
  });
  const third = starts.take().then((give) => {
    order.push(3);
    give();
  });
  giveBack();
  await Promise.all([second, third]);
  expect(order).toEqual([2, 3]);
  (await starts.take())();
});

test('who waits too long is refused with the time to come back, and takes no place', async () => {
  const starts = new TaskStarts(1, 5);
  const giveBack = await starts.take();
  const error = await starts.take().catch((thrown: unknown) => thrown);
  expect(error).toBeInstanceOf(GatewayError);
  expect(error).toMatchObject({ code: 'rate_limited', retryAfterSeconds: 1 });
  giveBack();
  giveBack();
  const again = await starts.take();
  await expect(starts.take()).rejects.toMatchObject({ code: 'rate_limited' });
  again();
});

test('a queue of twice the places refuses at once', async () => {
  const starts = new TaskStarts(1, 10_000);
  const giveBack = await starts.take();
  const waiting = [starts.take(), starts.take()];
  await expect(starts.take()).rejects.toMatchObject({ code: 'rate_limited' });
  giveBack();
  const [first, second] = waiting;
  (await first)?.();
  (await second)?.();
});
