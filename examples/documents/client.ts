/**
 * A robust client of documents, in nothing but Node: the webhook tells of the end of a run at once, polling finds what no webhook
 * told of.
 *
 *   BATCHGATE_URL=http://127.0.0.1:8080 BATCHGATE_KEY=… WEBHOOK_SECRET=whsec_… \
 *   COLUMNS='[{"name":"vendor","required":true},{"name":"total","type":"currency"}]' \
 *   node client.ts "Invoices 2026/08" invoices/*.pdf
 *
 * Started again with the same batch and the same files it goes on with the same documents and the same run. See
 * docs/documents-client.md.
 */
import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import { openAsBlob } from 'node:fs';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import { basename } from 'node:path';
import { buffer } from 'node:stream/consumers';
import { setTimeout as delay } from 'node:timers/promises';

interface ResultDocument {
  readonly id: string;
  readonly file_name: string | null;
  readonly status: string;
  readonly line_items: readonly Record<string, unknown>[] | null;
  readonly processing_error: { readonly code: string; readonly message: string } | null;
}

interface OpenDocuments {
  readonly data: readonly { readonly run_id: string | null }[];
  readonly next_cursor: string | null;
}

interface ClientSettings {
  readonly apiUrl: string;
  readonly apiKey: string;
  readonly webhookSecret: string;
  /** Between two looks at a batch. All looks of a key together may be 120 in a minute. */
  readonly pollMs: number;
}

interface Call {
  readonly json?: unknown;
  readonly form?: FormData;
  readonly idempotencyKey?: string;
}

/** A call that was repeated, or is older, is no news. */
const SIGNED_WITHIN_MS = 5 * 60_000;
/** For as long as an event may be replayed. */
const KEEP_SEEN_MS = 24 * 3_600_000;
const CALL_TRIES = 8;
const CALL_TIMEOUT_MS = 60_000;

class DocumentClient {
  readonly #settings: ClientSettings;
  /** Who waits for the end of which run. */
  readonly #waiting = new Map<string, () => void>();
  /** Runs whose end was told of before anybody waited for it: a webhook may be faster than the answer to the POST. */
  readonly #early = new Set<string>();
  /** Ids of events that were taken, and when. A client of several processes keeps them in its database. */
  readonly #seen = new Map<string, number>();

  constructor(settings: ClientSettings) {
    this.#settings = settings;
  }

  /**
   * Uploads files into a batch, has them processed, waits for the end of the run and answers with every document of the batch. The
   * keys name the work and not the calls: whoever does the same work again, after a crash or a lost answer, makes no second
   * document and no second run. They are kept for a day.
   */
  async run(batch: string, paths: readonly string[], columns: unknown): Promise<readonly ResultDocument[]> {
    const ids: string[] = [];
    for (const path of paths) ids.push(await this.#upload(batch, path));
    const work = createHash('sha256').update(ids.join()).digest('hex');
    // By query, since a path cannot carry every name.
    const name = `batch_name=${encodeURIComponent(batch)}`;
    const started = await this.#call<{ run_id: string }>('POST', `/v1/batch/process?${name}`, {
      json: { columns },
      idempotencyKey: work,
    });
    await this.#ended(started.run_id, name);
    return (await this.#call<{ documents: ResultDocument[] }>('GET', `/v1/batch/results?${name}`)).documents;
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
    const event = JSON.parse(bytes.toString()) as { readonly type: string; readonly data: { run_id: string | null } };
    const { run_id: runId } = event.data;
    if (event.type !== 'document_batch.run_finished' || runId === null) return 204;
    console.log(`${runId} finished, told by webhook`);
    const resolve = this.#waiting.get(runId);
    if (resolve === undefined) this.#early.add(runId);
    else resolve();
    return 204;
  }

  async #upload(batch: string, path: string): Promise<string> {
    const content = await openAsBlob(path);
    const form = new FormData();
    form.append('batch_name', batch);
    form.append('file', content, basename(path));
    const hash = createHash('sha256').update(JSON.stringify([batch, path]));
    for await (const chunk of content.stream()) hash.update(chunk);
    const document = await this.#call<{ id: string }>('POST', '/v1/documents', {
      form,
      idempotencyKey: hash.digest('hex'),
    });
    return document.id;
  }

  async #ended(runId: string, name: string): Promise<void> {
    const over = new AbortController();
    const told = new Promise<void>((resolve) => this.#waiting.set(runId, resolve));
    try {
      if (!this.#early.has(runId)) await Promise.race([told, this.#poll(runId, name, over.signal)]);
    } finally {
      over.abort();
      this.#waiting.delete(runId);
      this.#early.delete(runId);
    }
  }

  /** What no webhook tells of is found here, also when the receiver was away for longer than webhooks are retried. */
  async #poll(runId: string, name: string, signal: AbortSignal): Promise<void> {
    for (;;) {
      await delay(this.#settings.pollMs, undefined, { signal });
      const { all_done: isOver } = await this.#call<{ all_done: boolean }>('GET', `/v1/batch?${name}`);
      // Others may have uploaded what nobody has processed yet: then the documents of this run tell.
      if (!isOver && (await this.#hasOpenDocument(runId, name))) continue;
      if (!signal.aborted) console.log(`${runId} finished, found by polling`);
      return;
    }
  }

  async #hasOpenDocument(runId: string, name: string): Promise<boolean> {
    // In this order: one that is taken up between the two reads is seen by the second.
    for (const status of ['queued', 'processing']) {
      let cursor: string | null = '';
      while (cursor !== null) {
        const path = `/v1/documents?${name}&status=${status}&limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`;
        const page: OpenDocuments = await this.#call('GET', path);
        if (page.data.some(({ run_id: its }) => its === runId)) return true;
        cursor = page.next_cursor;
      }
    }
    return false;
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

  /** Calls again what got no answer, or was told to come back; with its key a POST that is repeated has one effect. */
  async #call<Answer>(method: string, path: string, call: Call = {}): Promise<Answer> {
    for (let tries = 1; ; tries += 1) {
      const response = await this.#send(method, path, call).catch((error: unknown) => {
        if (tries >= CALL_TRIES) throw error;
        return null;
      });
      if (response?.ok) return (await response.json()) as Answer;
      const isWorthATry =
        response === null || response.status === 429 || response.status >= 500 || response.headers.has('retry-after');
      if (response !== null && (!isWorthATry || tries >= CALL_TRIES))
        throw new Error(`${method} ${path} answered ${response.status}: ${await response.text()}`);
      await response?.arrayBuffer();
      const askedMs = Number(response?.headers.get('retry-after') ?? 0) * 1_000;
      const ownMs = Math.min(30_000, 250 * 2 ** tries);
      // Clients that were refused together do not come back together.
      await delay(Math.max(askedMs, ownMs * Math.random()));
    }
  }

  #send(method: string, path: string, { json, form, idempotencyKey }: Call): Promise<Response> {
    return fetch(new URL(path, this.#settings.apiUrl), {
      method,
      headers: {
        authorization: `Bearer ${this.#settings.apiKey}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey !== undefined && { 'idempotency-key': idempotencyKey }),
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(form !== undefined && { body: form }),
      signal: AbortSignal.timeout(CALL_TIMEOUT_MS),
    });
  }
}

function setting(name: string, usual?: string): string {
  const value = process.env[name] ?? usual;
  if (value === undefined) throw new Error(`Set ${name}.`);
  return value;
}

const [batch, ...files] = process.argv.slice(2);
if (batch === undefined || files.length === 0) throw new Error('Name a batch and files.');
const client = new DocumentClient({
  apiUrl: setting('BATCHGATE_URL', 'http://127.0.0.1:8080'),
  apiKey: setting('BATCHGATE_KEY'),
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
  for (const document of await client.run(batch, files, JSON.parse(setting('COLUMNS')))) {
    const { file_name: name, status, line_items: rows, processing_error: error } = document;
    console.log(`${name} ${status}: ${error === null ? JSON.stringify(rows) : error.code}`);
  }
} finally {
  server.close();
}
