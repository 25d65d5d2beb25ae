import { createHash } from 'node:crypto';
import type { Readable } from 'node:stream';
import type pg from 'pg';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import type { Principal } from '../../domain/principal.ts';
import { requireActiveAccount } from '../account-standing.ts';
import type { Database } from '../client.ts';
import { withIdempotency } from '../idempotency-keys.ts';
import { findIntakeJob, type IntakeJob } from '../intake-job.ts';
import { appendSpooledItems, type StoredItems, tooManyItems } from '../item-intake.ts';
import { type JobScope, jobScopeOf } from '../job-scope.ts';
import { readBody } from './body-stream.ts';
import type { IntakeSettings } from './intake-settings.ts';
import { ItemFaults } from './item-faults.ts';
import type { ItemRules } from './item-line.ts';
import { ItemSpool } from './item-spool.ts';
import { splitJsonItems } from './json-items.ts';
import { splitLines } from './lines.ts';
import { spoolItems } from './spool-items.ts';

export interface IntakeDependencies {
  readonly db: Database;
  readonly now: () => Date;
  readonly intake: IntakeSettings;
}

export interface ItemsBody {
  readonly principal: Principal;
  readonly jobId: string;
  readonly format: 'json' | 'ndjson';
  /** The body as it arrives, or any other stream of bytes. It is read to its end unless refused before. */
  readonly stream: Readable;
  /** The Content-Encoding header. */
  readonly contentEncoding?: string | undefined;
  /** The Idempotency-Key header, with what it belongs to (see db/idempotency-keys.ts). */
  readonly idempotency?: { readonly owner: string; readonly route: string; readonly key: string } | undefined;
}

/** What tells the two operations apart. */
export interface ItemsTask {
  readonly mode: 'append' | 'replace';
  readonly detectGzip: boolean;
}

/**
 * The way of items from a body into rows: read and check all of it into a spool at the client's pace, holding no
 * transaction; then store it in one transaction at the disk's. A refusal at any point leaves neither rows nor files.
 */
export async function takeItems(
  dependencies: IntakeDependencies,
  body: ItemsBody,
  task: ItemsTask,
): Promise<StoredItems> {
  const { db, intake } = dependencies;
  const scope = jobScopeOf(body.principal);
  if (scope === null) throw new GatewayError('forbidden', 'Items are appended with a key of the tenant.');
  const job = await findIntakeJob(db.pool, scope, body.jobId);
  if (job === null) throw new GatewayError('not_found', 'No such job.');
  // A repeated call has its stored answer also when the job has moved on since.
  if (job.state !== 'draft' && body.idempotency === undefined) {
    throw new GatewayError('job_not_draft', `The job is ${job.state}; items can be changed only while it is a draft.`);
  }
  if (body.idempotency === undefined) await requireActiveAccount(db.pool, job);
  const spool = new ItemSpool(
    { bucket: job.bucket, jobUuid: job.uuid },
    body.format === 'json' ? 'index' : 'line',
    intake.spool,
  );
  try {
    const contentHash = await readInto(spool, job, dependencies, body, task);
    return await store(spool, scope, contentHash, dependencies, body, task);
  } finally {
    await spool.close();
  }
}

/** Returns the SHA-256 of the decoded body where it is needed. */
async function readInto(
  spool: ItemSpool,
  job: IntakeJob,
  { intake: { limits } }: IntakeDependencies,
  { stream, contentEncoding, format, idempotency }: ItemsBody,
  { detectGzip }: ItemsTask,
): Promise<Uint8Array | null> {
  const maxBodyBytes = format === 'json' ? limits.maxJsonBytes : limits.maxStreamBytes;
  const bytes = readBody(stream, { contentEncoding, detectGzip }, { maxBodyBytes, maxGzipRatio: limits.maxGzipRatio });
  const hash = idempotency === undefined ? null : createHash('sha256');
  const chunks = hash === null ? bytes : tap(bytes, (chunk) => hash.update(chunk));
  const faults = new ItemFaults();
  await spoolItems({
    batches: format === 'json' ? splitJsonItems(chunks, limits.maxLineBytes) : splitLines(chunks, limits.maxLineBytes),
    rules: rulesFor(job, limits.maxRequestBytes),
    spool,
    faults,
    maxLineBytes: limits.maxLineBytes,
    checkCount: (itemCount) => {
      if (itemCount > limits.maxItemsPerJob) throw tooManyItems(limits.maxItemsPerJob);
    },
  });
  if (faults.count > 0) throw faults.toError();
  return hash?.digest() ?? null;
}

async function* tap(chunks: AsyncIterable<Buffer>, see: (chunk: Buffer) => void): AsyncGenerator<Buffer> {
  for await (const chunk of chunks) {
    see(chunk);
    yield chunk;
  }
}

function rulesFor({ endpoint, requestDefaults, allowsEmailLikeIds }: IntakeJob, maxRequestBytes: number): ItemRules {
  const defaults = requestDefaults === null ? null : (JSON.parse(requestDefaults) as JsonObject);
  return { endpoint, requestDefaults: defaults, allowsEmailLikeIds, maxRequestBytes };
}

async function store(
  spool: ItemSpool,
  scope: JobScope,
  contentHash: Uint8Array | null,
  { db, now, intake: { limits } }: IntakeDependencies,
  { jobId, idempotency }: ItemsBody,
  { mode }: ItemsTask,
): Promise<StoredItems> {
  const once = async (client: pg.PoolClient, effect: () => Promise<StoredItems>): Promise<StoredItems> => {
    if (idempotency === undefined || contentHash === null) return await effect();
    const answer = await withIdempotency(client, { ...idempotency, contentHash, now: now() }, async () => ({
      status: 200,
      body: JSON.stringify(await effect()),
    }));
    return JSON.parse(answer.body) as StoredItems;
  };
  return await appendSpooledItems(db, {
    scope,
    jobId,
    spool,
    mode,
    limits,
    lockTimeoutMs: limits.lockTimeoutMs,
    within: once,
  });
}
