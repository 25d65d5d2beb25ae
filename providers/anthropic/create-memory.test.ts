import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** All but the largest body Anthropic takes, which is 256 MB. */
const FILE_BYTES = 250 * 1024 * 1024;

/** Prints how far the resident memory of a process of its own rose above what it held before the create. */
const CREATE = `
const [module, baseUrl, path] = process.argv.slice(1);
const { createAnthropicProvider } = await import(module);
const timeouts = { requestTimeoutMs: 60000, idleTimeoutMs: 60000 };
const provider = createAnthropicProvider({ apiKey: 'sk-test', baseUrl, apiVersion: '2026-10-21', ...timeouts });
const before = process.memoryUsage.rss();
const input = { attemptToken: 'a', endpoint: 'messages', model: 'm', itemCount: 1, inputFileId: null };
await provider.createBatch({ ...input, path, signal: new AbortController().signal });
console.log(process.resourceUsage().maxRSS * 1024 - before);
`;

test('creates with a body of 250 MB without holding it in memory', { timeout: 60_000 }, async () => {
  let received = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"msgbatch_1"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'anthropic-create-'));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const path = join(folder, 'input.json');
  const file = await open(path, 'w');
  for (let written = 0; written < FILE_BYTES; written += 1 << 20) await file.write(Buffer.alloc(1 << 20, 'x'));
  await file.close();

  const { port } = server.address() as AddressInfo;
  const adapter = new URL('./adapter.ts', import.meta.url).href;
  const create = ['--input-type=module', '-e', CREATE, adapter, `http://127.0.0.1:${port}`, path];
  const { stdout } = await promisify(execFile)(process.execPath, create);

  expect(received).toBe(FILE_BYTES);
  // Held, it would be all of it; what passes through leaves garbage, the more the busier the machine.
  expect(Number(stdout)).toBeLessThan(0.9 * FILE_BYTES);
});
