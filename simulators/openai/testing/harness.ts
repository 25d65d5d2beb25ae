import OpenAI, { toFile } from 'openai';
import { onTestFinished, vi } from 'vitest';
import { createControl } from '../../control-client.ts';
import { type SimulatorOptions, startSimulators } from '../../start.ts';
import type { OpenAiSettingsChange } from '../settings.ts';

/** Every state is left as soon as its work is done. */
export const AT_ONCE = { validatingMs: 0, inProgressMs: 0, finalizingMs: 0, cancellingMs: 0 };

/** A simulator of the test's own with the official SDK and the control port pointed at it; closed with the test. */
export async function startOpenAi(settings: OpenAiSettingsChange = AT_ONCE, options: SimulatorOptions = {}) {
  const simulators = await startSimulators({ ...options, settings: { openai: settings } });
  onTestFinished(() => simulators.close());
  const client = new OpenAI({ apiKey: 'sk-test-key', baseURL: simulators.openaiUrl, maxRetries: 0 });
  return { client, control: createControl(simulators.controlUrl), simulators };
}

/** One chat line per prompt, with ids `item-0`, `item-1`, … */
export function chatLines(prompts: readonly string[], model = 'gpt-4o-mini'): string[] {
  return prompts.map((content, index) =>
    JSON.stringify({
      custom_id: `item-${index}`,
      method: 'POST',
      url: '/v1/chat/completions',
      body: { model, messages: [{ role: 'user', content }] },
    }),
  );
}

export function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index}`);
}

export async function upload(client: OpenAI, lines: readonly string[]) {
  return client.files.create({ purpose: 'batch', file: await toFile(Buffer.from(lines.join('\n')), 'input.jsonl') });
}

export async function submit(client: OpenAI, lines: readonly string[], metadata: Record<string, string> = {}) {
  const file = await upload(client, lines);
  return client.batches.create({
    input_file_id: file.id,
    endpoint: '/v1/chat/completions',
    completion_window: '24h',
    metadata,
  });
}

/** The batch once it is in one of the states, by default once it has ended. */
export function reached(
  client: OpenAI,
  id: string,
  states: readonly string[] = ['completed', 'failed', 'expired', 'cancelled'],
) {
  return vi.waitFor(
    async () => {
      const batch = await client.batches.retrieve(id);
      if (!states.includes(batch.status)) throw new Error(`batch is ${batch.status}`);
      return batch;
    },
    { timeout: 10_000, interval: 5 },
  );
}

export interface ResultLine {
  id: string;
  custom_id: string;
  response: { status_code: number; request_id: string; body: Record<string, unknown> } | null;
  error: { code: string; message: string } | null;
}

export async function fileText(client: OpenAI, id: string | null | undefined): Promise<string> {
  return id ? (await client.files.content(id)).text() : '';
}

/** The parsed lines of a result file; none when there is no file. */
export async function fileLines(client: OpenAI, id: string | null | undefined): Promise<ResultLine[]> {
  const lines = (await fileText(client, id)).split('\n').filter(Boolean);
  return lines.map((line) => JSON.parse(line));
}

export async function idsIn(client: OpenAI, id: string | null | undefined): Promise<string[]> {
  return (await fileLines(client, id)).map((line) => line.custom_id).sort();
}
