import Anthropic from '@anthropic-ai/sdk';
import { GoogleGenAI } from '@google/genai';
import OpenAI from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import { createControl } from './control-client.ts';
import { type Simulators, startSimulators } from './start.ts';

const HOUR_MS = 3_600_000;
const MESSAGES = [{ role: 'user' as const, content: 'How warm is it?' }];

interface Asked {
  name: string;
  ask(simulators: Simulators, signal?: AbortSignal): Promise<unknown>;
}

const openAi = ({ openaiUrl }: Simulators) => new OpenAI({ apiKey: 'sk-test', baseURL: openaiUrl, maxRetries: 0 });
const gemini = ({ geminiUrl }: Simulators) => new GoogleGenAI({ apiKey: 'key', httpOptions: { baseUrl: geminiUrl } });

const SINGLE_CALLS: readonly Asked[] = [
  {
    name: 'openai',
    ask: (simulators, signal) =>
      openAi(simulators).chat.completions.create(
        { model: 'gpt-4o-mini', messages: MESSAGES },
        { signal: signal ?? null },
      ),
  },
  {
    name: 'openai',
    ask: (simulators, signal) =>
      openAi(simulators).embeddings.create({ model: 'text-embedding-3-small', input: 'a' }, { signal: signal ?? null }),
  },
  {
    name: 'anthropic',
    ask: ({ anthropicUrl }, signal) =>
      new Anthropic({ apiKey: 'key', baseURL: anthropicUrl, maxRetries: 0 }).messages.create(
        { model: 'claude-haiku-5-5', max_tokens: 100, messages: MESSAGES },
        { signal: signal ?? null },
      ),
  },
  {
    name: 'gemini',
    ask: (simulators, signal) =>
      gemini(simulators).models.generateContent({
        model: 'gemini-2.5-flash',
        contents: 'How warm is it?',
        config: signal === undefined ? {} : { abortSignal: signal },
      }),
  },
  {
    name: 'gemini',
    ask: (simulators, signal) =>
      gemini(simulators).models.embedContent({
        model: 'gemini-embedding-001',
        contents: 'a',
        config: signal === undefined ? {} : { abortSignal: signal },
      }),
  },
];

async function start(name: string) {
  const simulators = await startSimulators({ settings: { [name]: { replyLatencyMs: HOUR_MS } } });
  onTestFinished(() => simulators.close());
  return { simulators, control: createControl(simulators.controlUrl) };
}

const WAITING = { status: null, ended_at: null, facts: { model: expect.any(String) } };

test.for(SINGLE_CALLS)('a single call of $name is answered after its latency', async ({ name, ask }) => {
  const { simulators, control } = await start(name);
  let isAnswered = false;
  const asking = ask(simulators).then(() => {
    isAnswered = true;
  });
  await expect.poll(() => control.journal()).toMatchObject([WAITING]);
  expect(isAnswered).toBe(false);
  await control.advance(HOUR_MS);
  await asking;
  await expect.poll(() => control.journal()).toMatchObject([{ status: 200, ended_at: expect.any(Number) }]);
  await control.settings({ [name]: { replyLatencyMs: 0 } });
  await ask(simulators);
});

test.for(SINGLE_CALLS)('a client of $name that leaves is in the journal, without an answer', async ({ name, ask }) => {
  const { simulators, control } = await start(name);
  const controller = new AbortController();
  const asking = ask(simulators, controller.signal).catch(() => 'gone');
  await expect.poll(() => control.journal()).toMatchObject([WAITING]);
  controller.abort();
  expect(await asking).toBe('gone');
  const gone = [{ ...WAITING, ended_at: expect.any(Number) }];
  await expect.poll(() => control.journal()).toMatchObject(gone);
  await control.advance(HOUR_MS);
  expect(await control.journal()).toMatchObject(gone);
});
