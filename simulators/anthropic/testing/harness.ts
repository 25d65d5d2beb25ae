import Anthropic from '@anthropic-ai/sdk';
import { onTestFinished, vi } from 'vitest';
import { createControl } from '../../control-client.ts';
import { type SimulatorOptions, startSimulators } from '../../start.ts';
import type { AnthropicSettingsChange } from '../settings.ts';

export type Params = Anthropic.MessageCreateParamsNonStreaming;

/** Every state is left as soon as its work is done. */
export const AT_ONCE = { inProgressMs: 0, endingMs: 0, cancelingMs: 0 };

const KEY = 'sk-ant-test-key';

/** A simulator of the test's own with the official SDK and the control port pointed at it; closed with the test. */
export async function startAnthropic(settings: AnthropicSettingsChange = AT_ONCE, options: SimulatorOptions = {}) {
  const simulators = await startSimulators({ ...options, settings: { anthropic: settings } });
  onTestFinished(() => simulators.close());
  const client = new Anthropic({ apiKey: KEY, baseURL: simulators.anthropicUrl, maxRetries: 0 });
  return { client, control: createControl(simulators.controlUrl), simulators, url: simulators.anthropicUrl };
}

export function ask(content: Anthropic.MessageParam['content'], more: Partial<Params> = {}): Params {
  return { model: 'claude-haiku-5-5', max_tokens: 1_024, messages: [{ role: 'user', content }], ...more };
}

/** One request per question, with ids `item-0`, `item-1`, … */
export function requests(questions: readonly (string | Params)[]) {
  return questions.map((question, index) => ({
    custom_id: `item-${index}`,
    params: typeof question === 'string' ? ask(question) : question,
  }));
}

export function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index}`);
}

export function submit(client: Anthropic, questions: readonly (string | Params)[]) {
  return client.messages.batches.create({ requests: requests(questions) });
}

/** The batch once it has ended. */
export function ended(client: Anthropic, id: string) {
  return vi.waitFor(
    async () => {
      const batch = await client.messages.batches.retrieve(id);
      if (batch.processing_status !== 'ended') throw new Error(`batch is ${batch.processing_status}`);
      return batch;
    },
    { timeout: 10_000, interval: 5 },
  );
}

export type Line = Anthropic.Messages.MessageBatchIndividualResponse;

/** The result lines of a batch in the order they came. */
export async function linesOf(client: Anthropic, id: string): Promise<Line[]> {
  const lines: Line[] = [];
  for await (const line of await client.messages.batches.results(id)) lines.push(line);
  return lines;
}

/** What came of each item, by its id. */
export async function resultsOf(client: Anthropic, id: string): Promise<Record<string, Line['result']>> {
  const lines = await linesOf(client, id);
  return Object.fromEntries(lines.map(({ custom_id, result }) => [custom_id, result]));
}

/** Submits the questions, waits for the end and gives the results in the order of the questions. */
export async function run(client: Anthropic, questions: readonly (string | Params)[]) {
  const { id } = await submit(client, questions);
  await ended(client, id);
  const results = await resultsOf(client, id);
  return questions.map((_, index) => results[`item-${index}`]);
}

/** A call without the SDK. */
export function call(url: string, path: string, init: RequestInit & { headers?: Record<string, string> } = {}) {
  const headers = { 'x-api-key': KEY, 'anthropic-version': '2023-06-01', ...init.headers };
  return fetch(`${url}${path}`, { ...init, headers });
}
