import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, open, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { GoogleGenAI } from '@google/genai';
import { expect, onTestFinished, test } from 'vitest';
import { readLines } from '../line-reader.ts';
import { lines, MODEL } from './testing/harness.ts';

const ITEMS = 50_000;
const HEAP_MB = 96;
const PADDING = '.'.repeat(2_200);
const SETTINGS = { gemini: { pendingMs: 0, runningMs: 0 } };

/** The simulators in a process of their own, whose heap is smaller than the file they are about to get. */
async function startBounded(): Promise<string> {
  const main = fileURLToPath(new URL('../main.ts', import.meta.url));
  const ports = ['openai', 'anthropic', 'gemini', 'control'].flatMap((name) => [`--${name}-port`, '0']);
  const args = [`--max-old-space-size=${HEAP_MB}`, main, ...ports, '--settings', JSON.stringify(SETTINGS)];
  const child = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'ignore'] });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  return JSON.parse(line.toString()).gemini_url;
}

test('runs 50,000 lines in less memory than they take', async () => {
  const folder = await mkdtemp(join(tmpdir(), 'gemini-memory-'));
  onTestFinished(() => rm(folder, { recursive: true }));
  const [input, output] = [join(folder, 'input.jsonl'), join(folder, 'output.jsonl')];
  const handle = await open(input, 'w');
  for (let start = 0; start < ITEMS; start += 1_000) {
    const prompts = Array.from({ length: 1_000 }, (_, index) => `question ${start + index} ${PADDING}`);
    await handle.write(`${lines(prompts).join('\n')}\n`);
  }
  const { size } = await handle.stat();
  await handle.close();
  expect(size).toBeGreaterThan(HEAP_MB * 1024 * 1024);

  const client = new GoogleGenAI({ apiKey: 'test-key', httpOptions: { baseUrl: await startBounded() } });
  const file = await client.files.upload({ file: input, config: { mimeType: 'application/jsonl' } });
  const { name = '' } = await client.batches.create({ model: MODEL, src: file.name ?? '' });
  await expect
    .poll(async () => (await client.batches.get({ name })).state, { timeout: 60_000, interval: 100 })
    .toBe('JOB_STATE_SUCCEEDED');
  const { dest } = await client.batches.get({ name });
  await client.files.download({ file: dest?.fileName ?? '', downloadPath: output });
  let results = 0;
  for await (const block of readLines(output)) results += block.filter(Boolean).length;
  expect(results).toBe(ITEMS);
}, 90_000);
