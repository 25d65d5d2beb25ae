import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';

const ITEMS = 20_000;
const ITEM_BYTES = 12_500;
/** What the process grows by whatever the body: garbage not yet collected and a window of results. */
const BOUND_BYTES = 200_000_000;

/** Prints how far the resident memory of a process of its own rises with a create and its results. */
const CREATE = `
import { request } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
const [module, items, itemBytes] = process.argv.slice(1);
const { startSimulators } = await import(module);
const settings = { anthropic: { inProgressMs: 0, endingMs: 0 } };
const simulators = await startSimulators({ settings });
const headers = { 'x-api-key': 'k', 'anthropic-version': '2026-10-21', 'content-type': 'application/json' };
const padding = 'x'.repeat(itemBytes);
async function* body() {
  yield '{"requests":[';
  for (let index = 0; index < items; index += 1) {
    const messages = [{ role: 'user', content: '[[sim:chars=5]]' + padding }];
    const params = { model: 'claude-haiku-5-5', max_tokens: 9, messages };
    yield (index === 0 ? '' : ',') + JSON.stringify({ custom_id: 'item-' + index, params });
  }
  yield ']}';
}
const before = process.memoryUsage.rss();
const create = request(simulators.anthropicUrl + '/v1/messages/batches', { method: 'POST', headers });
const answered = new Promise((resolve, reject) => create.once('response', resolve).once('error', reject));
await pipeline(Readable.from(body()), create);
const { id } = JSON.parse(await (await answered).setEncoding('utf8').reduce((text, part) => text + part, ''));
const path = simulators.anthropicUrl + '/v1/messages/batches/' + id;
let batch;
do {
  await new Promise((resolve) => setTimeout(resolve, 50));
  batch = await (await fetch(path, { headers })).json();
} while (batch.processing_status !== 'ended');
let lines = 0;
for await (const chunk of (await fetch(batch.results_url, { headers })).body) {
  for (const byte of chunk) if (byte === 10) lines += 1;
}
const grown = process.resourceUsage().maxRSS * 1024 - before;
console.log(JSON.stringify({ grown, lines, counts: batch.request_counts }));
await simulators.close();
`;

test('takes 20,000 requests in 250 MB without holding them in memory', { timeout: 180_000 }, async ({ signal }) => {
  const start = new URL('../start.ts', import.meta.url).href;
  const args = ['--input-type=module', '-e', CREATE, start, String(ITEMS), String(ITEM_BYTES)];
  const { stdout } = await promisify(execFile)(process.execPath, args, { signal });
  const { grown, lines, counts } = JSON.parse(stdout);
  expect(counts).toMatchObject({ processing: 0, succeeded: ITEMS });
  expect(lines).toBe(ITEMS);
  expect(grown).toBeLessThan(BOUND_BYTES);
});
