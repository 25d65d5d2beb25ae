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

/** Prints how much more a process of its own held at most during the create than before. */
const CREATE = `
const [module, memory, baseUrl, path] = process.argv.slice(1);
const { growthWhile } = await import(memory);
const { createAnthropicProvider } = await import(module);
const timeouts = { requestTimeoutMs: 60000, idleTimeoutMs: 60000 };
const provider = createAnthropicProvider({ apiKey: 'sk-test', baseUrl, apiVersion: '2026-10-21', ...timeouts });
const input = { attemptToken: 'a', endpoint: 'messages', model: 'm', itemCount: 1, inputFileId: null };
const work = () => provider.createBatch({ ...input, path, signal: new AbortController().signal });
console.log(await growthWhile(work));
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
  const memory = new URL('../../tests/harness/held-memory.ts', import.meta.url).href;
  const create = ['--input-type=module', '-e', CREATE, adapter, memory, `http://127.0.0.1:${port}`, path];
  const { stdout } = await promisify(execFile)(process.execPath, create);

  expect(received).toBe(FILE_BYTES);
  // Held, it would be all of it.
  expect(Number(stdout)).toBeLessThan(FILE_BYTES / 4);
});
