/**
 * A robust client of tasks, in nothing but Node: webhooks tell of the end at once, polling finds what no webhook told of.
 *
 *   BATCHGATE_URL=http://127.0.0.1:8080 BATCHGATE_KEY=… WEBHOOK_SECRET=whsec_… WEBHOOK_URL=https://hooks.example.com/tasks \
 *   node client.ts work-17 "Name the capital of France." "Name the river that runs through {}."
 *
 * The second task takes the place of `{}` from the reply of the first. Started again with the same name of the work it goes on with
 * the same tasks. See docs/tasks-client.md.
 */
import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface Task {
  readonly id: string;
  readonly status: 'QUEUED' | 'PROCESSING' | 'COMPLETED' | 'FAILED';
  readonly response: { readonly text: string } | null;
  readonly error: { readonly code: string; readonly message: string } | null;
}

interface ClientSettings {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly webhookUrl: string;
  readonly webhookSecret: string;
  /** How long after a task was queued, and after each look, it is looked at. */
  readonly pollMs: number;
}

/** A call that was repeated, or is older, is no news. */
const SIGNED_WITHIN_MS = 5 * 60_000;
/** For as long as an event may be replayed. */
const KEEP_SEEN_MS = 24 * 3_600_000;
const CALL_TRIES = 8;
const CALL_TIMEOUT_MS = 30_000;

class TaskClient {
  readonly #settings: ClientSettings;
  /** Who waits for the end of which task. */
  readonly #waiting = new Map<string, (task: Task) => void>();
  /** Tasks whose end was told of before anybody waited for it: a webhook may be faster than the answer to the POST. */
  readonly #early = new Map<string, Task>();
  /** Ids of events that were taken, and when. A client of several processes keeps them in its database. */
  readonly #seen = new Map<string, number>();

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /**
   * Queues a task and waits for its end. The key names the piece of work and not the call: whoever does the same work again, after
   * a crash or a lost answer, gets the same task.
   */
  async run(workKey: string, taskType: string, prompt: string): Promise<Task> {
    const body = { taskType, payload: { prompt }, webhookUrl: this.#settings.webhookUrl };
    const { id } = await this.#call('POST', '/v1/async/task', body, workKey);
    const over = new AbortController();
    const told = new Promise<Task>((resolve) => this.#waiting.set(id, resolve));
    const early = this.#early.get(id);
    try {
      return early ?? (await Promise.race([told, this.#poll(id, over.signal)]));
    } finally {
      over.abort();
      this.#waiting.delete(id);
      this.#early.delete(id);
    }
  }

  /** Takes one webhook and returns the status to answer: quickly, before anything is done about it. */
  receive(headers: IncomingHttpHeaders, bytes: Buffer): number {
    if (!this.#isSigned(headers, bytes)) {
      console.log('a call with a wrong signature was refused');
      return 400;
    }
    const eventId = String(headers['webhook-id']);
    if (this.#seen.has(eventId)) {
      console.log(`${eventId} came again`);
      return 204;
    }
    this.#remember(eventId);
    const event = JSON.parse(bytes.toString()) as { readonly type: string; readonly data: Task };
    if (event.type !== 'task.completed' && event.type !== 'task.failed') return 204;
    const task = event.data;
    console.log(`${task.id} ${task.status}, told by webhook`);
    const resolve = this.#waiting.get(task.id);
    if (resolve === undefined) this.#early.set(task.id, task);
    else resolve(task);
    return 204;
  }

  /** Standard Webhooks: HMAC-SHA256 over id, time and the bytes as they came; several signatures while a secret is being replaced. */
  #isSigned(headers: IncomingHttpHeaders, bytes: Buffer): boolean {
    const [id, timestamp, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) =>
      String(headers[name] ?? ''),
    );
    const ageMs = Math.abs(Date.now() - Number(timestamp) * 1_000);
    if (!id || !timestamp || !signatures || !(ageMs <= SIGNED_WITHIN_MS)) return false;
    const key = Buffer.from(this.#settings.webhookSecret.replace(/^whsec_/, ''), 'base64');
    const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(bytes).digest();
    return signatures.split(' ').some((signature) => {
      const [version, base64 = ''] = signature.split(',');
      const given = Buffer.from(base64, 'base64');
      return version === 'v1' && given.length === expected.length && timingSafeEqual(given, expected);
    });
  }

  #remember(eventId: string): void {
    const now = Date.now();
    this.#seen.set(eventId, now);
    for (const [id, at] of this.#seen) {
      if (now - at <= KEEP_SEEN_MS) break;
      this.#seen.delete(id);
    }
  }

  /** What no webhook tells of is found here, also when the receiver was away for longer than webhooks are retried. */
  async #poll(id: string, signal: AbortSignal): Promise<Task> {
    for (;;) {
      await delay(this.#settings.pollMs, undefined, { signal });
      const task = await this.#call('GET', `/v1/async/task/${id}`);
      if (task.status === 'QUEUED' || task.status === 'PROCESSING') continue;
      if (!signal.aborted) console.log(`${id} ${task.status}, found by polling`);
      return task;
    }
  }

  /** Calls again what got no answer, or was told to come back; with its key a POST that is repeated makes no second task. */
  async #call(method: string, path: string, json?: unknown, idempotencyKey?: string): Promise<Task> {
    for (let tries = 1; ; tries += 1) {
      const response = await this.#send(method, path, json, idempotencyKey).catch((error: unknown) => {
        if (tries >= CALL_TRIES) throw error;
        return null;
      });
      if (response?.ok) return (await response.json()) as Task;
      const isWorthATry = response === null || response.status === 429 || response.status >= 500;
      if (response !== null && (!isWorthATry || tries >= CALL_TRIES))
        throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
      await response?.arrayBuffer();
      const askedMs = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
      const ownMs = Math.min(30_000, 250 * 2 ** tries);
      // Clients that were refused together do not come back together.
      await delay(Math.max(askedMs, ownMs * Math.random()));
    }
  }

  #send(method: string, path: string, json: unknown, idempotencyKey: string | undefined): Promise<Response> {
    return fetch(new URL(path, this.#settings.apiUrl), {
      method,
      headers: {
        authorization: `Bearer ${this.#settings.apiKey}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
  }
}

function setting(name: string, usual?: string): string {
  const value = process.env[name] ?? usual;
  if (value === undefined) throw new Error(`Set ${name}.`);
  return value;
}

const [work = 'work-1', first = 'Name the capital of France.', second = 'Name the river that runs through {}.'] =
  process.argv.slice(2);
const taskType = setting('TASK_TYPE', 'OPENAI');
const client = new TaskClient({
  apiUrl: setting('BATCHGATE_URL', 'http://127.0.0.1:8080'),
  apiKey: setting('BATCHGATE_KEY'),
  webhookUrl: setting('WEBHOOK_URL'),
  webhookSecret: setting('WEBHOOK_SECRET'),
  pollMs: Number(setting('POLL_SECONDS', '60')) * 1_000,
});
const server = createServer((request, response) => {
  buffer(request).then(
    (body) => response.writeHead(client.receive(request.headers, body)).end(),
    // Broken off by whoever called: nothing was told.
    () => request.destroy(),
  );
}).listen(Number(setting('WEBHOOK_PORT', '8090')));

try {
  const answered = await client.run(`${work}/first`, taskType, first);
  if (answered.response === null) throw new Error(`the first task failed: ${answered.error?.code}`);
  const { text } = answered.response;
  // The order of queued tasks means nothing: what needs the first reply is queued once that is there.
  const next = await client.run(
    `${work}/second`,
    taskType,
    second.replace('{}', () => text),
  );
  console.log(next.response?.text ?? `the second task failed: ${next.error?.code}`);
} finally {
  server.close();
}
