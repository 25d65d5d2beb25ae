import { expect, test } from 'vitest';
import { cutErrorBody } from './error-body.ts';

test.each([
  [500, 3, 'abc'],
  [400, 6, 'abcdef'],
  [404, 100, 'abcdef'],
  [200, 3, 'abcdef'],
])('the body of a %i is kept to %i bytes: %s', async (status, maxBytes, kept) => {
  const headers = { 'retry-after': '7' };
  const response = cutErrorBody(new Response('abcdef', { status, headers }), maxBytes);
  expect(response.status).toBe(status);
  expect(response.headers.get('retry-after')).toBe('7');
  expect(await response.text()).toBe(kept);
});

test('lets go of a body without an end', async () => {
  const left = Promise.withResolvers<void>();
  const body = new ReadableStream<Uint8Array>({
    pull: (controller) => controller.enqueue(Buffer.from('more')),
    cancel: () => left.resolve(),
  });
  expect(await cutErrorBody(new Response(body, { status: 500 }), 10).text()).toBe('moremoremo');
  await left.promise;
});
