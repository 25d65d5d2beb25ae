import { GoogleGenAI } from '@google/genai';
import { onTestFinished, vi } from 'vitest';
import { createControl } from '../../control-client.ts';
import { type SimulatorOptions, startSimulators } from '../../start.ts';
import type { GeminiSettingsChange } from '../settings.ts';

/** Every state is left as soon as its work is done. */
export const AT_ONCE = { pendingMs: 0, runningMs: 0, cancellingMs: 0 };
export const MODEL = 'gemini-2.5-flash';
const KEY = 'test-key-wxyz';

export interface Operation {
  name: string;
  done?: true;
  error?: { code: number; message: string };
  metadata: {
    state: string;
    batchStats?: Record<string, string>;
    output?: Output;
    [field: string]: unknown;
  };
  response?: Output & { '@type': string };
}

interface Output {
  responsesFile?: string;
  inlinedResponses?: { inlinedResponses: ResultLine[] };
}

export interface ResultLine {
  key?: string;
  metadata?: Record<string, unknown>;
  response?: { candidates?: Candidate[]; usageMetadata?: Record<string, number>; [field: string]: unknown };
  error?: { code?: number; message?: string };
}

interface Candidate {
  content?: { role: string; parts?: { text?: string; functionCall?: { name: string; args: unknown } }[] };
  finishReason: string;
}

/** A simulator of the test's own with the official SDK and the control port pointed at it; closed with the test. */
export async function startGemini(settings: GeminiSettingsChange = AT_ONCE, options: SimulatorOptions = {}) {
  const simulators = await startSimulators({ ...options, settings: { gemini: settings } });
  onTestFinished(() => simulators.close());
  const url = simulators.geminiUrl;
  const client = new GoogleGenAI({ apiKey: KEY, httpOptions: { baseUrl: url } });
  const rest = async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await fetch(new URL(path, url), {
      method,
      headers: { 'x-goog-api-key': KEY, 'content-type': 'application/json', ...headers },
      ...(body !== undefined && { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    return { status: response.status, headers: response.headers, text: await response.text() };
  };
  return { client, control: createControl(simulators.controlUrl), simulators, url, rest };
}

export type Gemini = Awaited<ReturnType<typeof startGemini>>;

/** One line per prompt, with keys `item-0`, `item-1`, … */
export function lines(prompts: readonly string[]): string[] {
  return prompts.map((text, index) => JSON.stringify({ key: `item-${index}`, request: request(text) }));
}

export function request(text: string) {
  return { contents: [{ role: 'user', parts: [{ text }] }] };
}

export function prompts(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index}`);
}

export async function upload({ client }: Pick<Gemini, 'client'>, text: readonly string[]) {
  const file = new Blob([text.join('\n')], { type: 'application/jsonl' });
  return client.files.upload({ file, config: { displayName: 'input' } });
}

/** A batch of an uploaded file; resolves to its name. */
export async function submit(gemini: Pick<Gemini, 'client'>, text: readonly string[], displayName = 'a batch') {
  const file = await upload(gemini, text);
  const batch = await gemini.client.batches.create({ model: MODEL, src: file.name ?? '', config: { displayName } });
  return batch.name ?? '';
}

/** A batch of inline requests, with the keys of {@link lines}; resolves to its name. */
export async function submitInline({ rest }: Pick<Gemini, 'rest'>, texts: readonly string[], more: object = {}) {
  const requests = texts.map((text, index) => ({ request: request(text), metadata: { key: `item-${index}` } }));
  return create({ rest }, { displayName: 'a batch', inputConfig: { requests: { requests } }, ...more });
}

export async function create({ rest }: Pick<Gemini, 'rest'>, batch: object, method = 'batchGenerateContent') {
  const model = method === 'batchGenerateContent' ? MODEL : 'gemini-embedding-001';
  const { status, text } = await rest('POST', `/v1beta/models/${model}:${method}`, { batch });
  if (status !== 200) throw new Error(`create answered ${status}: ${text}`);
  return (JSON.parse(text) as Operation).name;
}

export async function operation({ rest }: Pick<Gemini, 'rest'>, name: string): Promise<Operation> {
  const { status, text } = await rest('GET', `/v1beta/${name}`);
  if (status !== 200) throw new Error(`GET ${name} answered ${status}: ${text}`);
  return JSON.parse(text);
}

const ENDED = ['SUCCEEDED', 'FAILED', 'EXPIRED', 'CANCELLED'];

/** The batch once it is in one of the states, by default once it has ended. */
export function reached(gemini: Pick<Gemini, 'rest'>, name: string, states: readonly string[] = ENDED) {
  return vi.waitFor(
    async () => {
      const found = await operation(gemini, name);
      const { state } = found.metadata;
      if (!states.includes(state.replace('BATCH_STATE_', ''))) throw new Error(`batch is ${state}`);
      return found;
    },
    { timeout: 10_000, interval: 5 },
  );
}

export async function fileText({ rest }: Pick<Gemini, 'rest'>, name: string | undefined): Promise<string> {
  return name === undefined ? '' : (await rest('GET', `/v1beta/${name}:download?alt=media`)).text;
}

/** The results of an ended batch, from its file or inline. */
export async function resultsOf(gemini: Pick<Gemini, 'rest'>, { response }: Operation): Promise<ResultLine[]> {
  if (response?.inlinedResponses !== undefined) return response.inlinedResponses.inlinedResponses;
  const text = await fileText(gemini, response?.responsesFile);
  return text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line));
}

/** The results of a batch of these prompts by key. */
export async function run(gemini: Gemini, texts: readonly string[]): Promise<Map<string, ResultLine>> {
  const ended = await reached(gemini, await submit(gemini, lines(texts)));
  return new Map((await resultsOf(gemini, ended)).map((line) => [line.key ?? '', line]));
}

/** The one result of a batch of one prompt or one request. */
export async function runOne(gemini: Gemini, asked: string | object): Promise<ResultLine> {
  const only = JSON.stringify({ key: 'item-0', request: typeof asked === 'string' ? request(asked) : asked });
  const ended = await reached(gemini, await submit(gemini, [only]));
  const [line] = await resultsOf(gemini, ended);
  if (line === undefined) throw new Error(`no result: ${JSON.stringify(ended)}`);
  return line;
}
