import { execFile } from 'node:child_process';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';

/** The largest input file OpenAI takes. */
const FILE_BYTES = 200 * 1024 * 1024;

/** Prints how much more a process of its own held at most during the upload than before. */
const UPLOAD = `
const [module, memory, baseUrl, path] = process.argv.slice(1);
const { growthWhile } = await import(memory);
const { createOpenAiProvider } = await import(module);
const provider = createOpenAiProvider({ apiKey: 'sk-test', baseUrl, requestTimeoutMs: 60000, idleTimeoutMs: 60000 });
const work = () => provider.uploadInput({ path, fileName: 'input.jsonl', signal: new AbortController().signal });
console.log(await growthWhile(work));
`;

test('uploads 200 MB without holding them in memory', { timeout: 60_000 }, async () => {
  let received = 0;
  const server = createServer((request, response) => {
    request.on('data', (chunk: Buffer) => {
      received += chunk.length;
    });
    request.on('end', () => response.setHeader('content-type', 'application/json').end('{"id":"file-1"}'));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const folder = await mkdtemp(join(tmpdir(), 'openai-upload-'));
  onTestFinished(async () => {
    server.close();
    await rm(folder, { recursive: true });
  });
  const path = join(folder, 'input.jsonl');
  const file = await open(path, 'w');
  for (let written = 0; written < FILE_BYTES; written += 1 << 20) await file.write(Buffer.alloc(1 << 20, 'x'));
  await file.close();

  const { port } = server.address() as AddressInfo;
  const adapter = new URL('./adapter.ts', import.meta.url).href;
  const memory = new URL('../../tests/harness/held-memory.ts', import.meta.url).href;
  const upload = ['--input-type=module', '-e', UPLOAD, adapter, memory, `http://127.0.0.1:${port}/v1`, path];
  const { stdout } = await promisify(execFile)(process.execPath, upload);

  expect(received).toBeGreaterThan(FILE_BYTES);
  // Held, it would be all of it.
  expect(Number(stdout)).toBeLessThan(FILE_BYTES / 4);
});
