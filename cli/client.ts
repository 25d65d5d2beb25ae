import type { z } from 'zod';
import { ErrorEnvelope } from '../contracts/error.ts';
import { TaskErrorEnvelope } from '../contracts/task-error.ts';
import { type CommandError, refusal, taskRefusal, unreachable, usageError } from './errors.ts';

export interface ClientOptions {
  readonly url: string;
  readonly key: string;
  /** Said where nothing answers. */
  readonly unreachableFix: string;
  readonly fetch: typeof fetch;
  readonly sleep: (delayMs: number) => Promise<void>;
  readonly userAgent: string;
}

export type Query = { readonly [name: string]: string | number | undefined };

export interface Sending {
  /** Sent as JSON. */
  readonly json?: unknown;
  /** NDJSON, sent as it is made. */
  readonly lines?: AsyncIterable<Uint8Array>;
  readonly csv?: string;
  /** Sent as multipart/form-data; its files are read as they are sent, each time anew. */
  readonly form?: FormData;
  readonly query?: Query;
  /** Makes the call safe to repeat. */
  readonly idempotencyKey?: string;
  readonly headers?: { readonly [name: string]: string };
}

const TIMEOUT_MS = 60_000;
const MAX_TRIES = 4;
const FIRST_DELAY_MS = 250;
const MAX_DELAY_MS = 5_000;
/** What a proxy or a gateway says that will soon be back. */
const TRY_AGAIN = [429, 502, 503, 504];

/**
 * JSON over HTTP with a gateway: answers as the contract has them, with members it does not know left in. Calls that
 * are safe to repeat are repeated a few times. Throws CommandError: the gateway's refusal, or that it is out of reach.
 */
export class Client {
  readonly url: string;
  readonly #options: ClientOptions;

  constructor(options: ClientOptions) {
    this.url = baseUrl(options.url);
    this.#options = options;
  }

  async get<Schema extends z.ZodType>(
    path: string,
    schema: Schema,
    query: Query = {},
    timeoutMs = TIMEOUT_MS,
  ): Promise<z.output<Schema>> {
    const response = await this.#request('GET', path, { query, timeoutMs, isRepeatable: true });
    return readAnswer(response, schema);
  }

  async send<Schema extends z.ZodType>(
    method: 'POST' | 'PUT' | 'PATCH' | 'DELETE',
    path: string,
    schema: Schema,
    { json, lines, csv, form, query, idempotencyKey, headers = {} }: Sending = {},
  ): Promise<z.output<Schema>> {
    const response = await this.#request(method, path, {
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(lines !== undefined && { body: ReadableStream.from(lines) }),
      ...(csv !== undefined && { body: csv }),
      ...(form !== undefined && { body: form }),
      ...(query !== undefined && { query }),
      isRepeatable: idempotencyKey !== undefined,
      headers: {
        ...headers,
        ...(json !== undefined && { 'Content-Type': 'application/json' }),
        ...(lines !== undefined && { 'Content-Type': 'application/x-ndjson' }),
        ...(csv !== undefined && { 'Content-Type': 'text/csv' }),
        ...(idempotencyKey !== undefined && { 'Idempotency-Key': idempotencyKey }),
      },
    });
    return readAnswer(response, schema);
  }

  async delete(path: string): Promise<void> {
    const response = await this.#request('DELETE', path, { isRepeatable: false, timeoutMs: TIMEOUT_MS });
    await response.body?.cancel();
  }

  /** A body as it comes; its headers first. */
  async *stream(
    path: string,
    accept: string,
    query: Query = {},
    heed: (headers: Headers) => void = () => undefined,
  ): AsyncGenerator<Uint8Array> {
    const response = await this.#request('GET', path, { query, isRepeatable: true, headers: { Accept: accept } });
    heed(response.headers);
    try {
      for await (const chunk of response.body ?? []) yield chunk;
    } catch (error) {
      throw unreachable(`The answer of ${this.url} broke off before its end.`, 'Try again.', error);
    }
  }

  async #request(method: string, path: string, request: OutgoingRequest): Promise<Response> {
    const target = new URL(`${this.url}${path}`);
    for (const [name, value] of Object.entries(request.query ?? {})) {
      if (value !== undefined) target.searchParams.set(name, String(value));
    }
    for (let tries = 1; ; tries += 1) {
      const { response, error } = await this.#fetch(method, target, request);
      if (response?.ok) return response;
      const isLast = !request.isRepeatable || tries === MAX_TRIES;
      if (response === undefined) {
        if (isLast) throw this.#noAnswer(error);
      } else if (isLast || !TRY_AGAIN.includes(response.status)) {
        throw await readRefusal(response, this.url);
      } else {
        await response.body?.cancel();
      }
      await this.#options.sleep(delayMs(tries, response?.headers.get('retry-after') ?? null));
    }
  }

  async #fetch(
    method: string,
    target: URL,
    request: OutgoingRequest,
  ): Promise<{ response?: Response; error?: unknown }> {
    const { key, userAgent } = this.#options;
    try {
      const response = await this.#options.fetch(target, {
        method,
        headers: { Authorization: `Bearer ${key}`, 'User-Agent': userAgent, ...request.headers },
        ...(request.body !== undefined && { body: request.body, duplex: 'half' }),
        ...(request.timeoutMs !== undefined && { signal: AbortSignal.timeout(request.timeoutMs) }),
      });
      return { response };
    } catch (error) {
      return { error };
    }
  }

  #noAnswer(error: unknown): CommandError {
    return unreachable(
      `The gateway at ${this.url} does not answer (${reasonOf(error)}).`,
      this.#options.unreachableFix,
      error,
    );
  }
}

interface OutgoingRequest {
  readonly query?: Query;
  readonly headers?: { readonly [name: string]: string };
  readonly body?: string | ReadableStream<Uint8Array> | FormData;
  readonly isRepeatable: boolean;
  /** Without it the call may take as long as it likes. */
  readonly timeoutMs?: number;
}

function baseUrl(given: string): string {
  const url = URL.parse(given);
  if (url === null || !/^https?:$/.test(url.protocol)) {
    throw usageError(`"${given}" is not an http or https URL. Write it like http://127.0.0.1:8080.`, '--url');
  }
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '');
}

/** What is asked to wait longer than `MAX_DELAY_MS` is asked again all the same: a person is watching. */
function delayMs(tries: number, retryAfter: string | null): number {
  const asked = secondsOf(retryAfter);
  return Math.min(asked !== null ? asked * 1000 : FIRST_DELAY_MS * 2 ** (tries - 1), MAX_DELAY_MS);
}

function secondsOf(retryAfter: string | null): number | null {
  return retryAfter !== null && /^\d{1,6}$/.test(retryAfter) ? Number(retryAfter) : null;
}

async function readAnswer<Schema extends z.ZodType>(response: Response, schema: Schema): Promise<z.output<Schema>> {
  const body = await readJson(response);
  const parsed = schema.safeParse(body);
  if (parsed.success) return body as z.output<Schema>;
  const where = parsed.error.issues[0]?.path.map(String).join('.') || 'the body';
  throw unreachable(
    `${new URL(response.url || 'http://gateway').host} answered something this command does not understand (${where}).`,
    'Is it a Batchgate of another version, or another server?',
    parsed.error,
  );
}

async function readRefusal(response: Response, url: string): Promise<CommandError> {
  const body = await readJson(response);
  const envelope = ErrorEnvelope.safeParse(body);
  const retryAfterSeconds = secondsOf(response.headers.get('retry-after'));
  if (envelope.success) return refusal(response.status, envelope.data, retryAfterSeconds);
  const ofTasks = TaskErrorEnvelope.safeParse(body);
  if (ofTasks.success) return taskRefusal(response.status, ofTasks.data);
  const fix = 'Is that the URL of a Batchgate gateway?';
  return unreachable(`${url} answered ${response.status}, and not as a gateway does.`, fix);
}

async function readJson(response: Response): Promise<unknown> {
  try {
    return await response.json();
  } catch {
    return undefined;
  }
}

/** `fetch failed` says nothing; its cause does. */
function reasonOf(error: unknown): string {
  const cause = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  if (!(cause instanceof Error)) return String(cause);
  if (cause.name === 'TimeoutError') return 'it took too long';
  return 'code' in cause && typeof cause.code === 'string' ? cause.code : cause.message;
}
