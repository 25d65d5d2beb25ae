import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom, to as copyTo } from 'pg-copy-streams';
import { appendItems } from '../api/operations/append-items.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { fromUuid } from '../db/ids.ts';
import { DEFAULT_INTAKE_LIMITS, DEFAULT_SPOOL_MEMORY_BYTES } from '../db/intake/intake-settings.ts';
import { SpoolSpace } from '../db/intake/spool-space.ts';
import type { IntakeDependencies } from '../db/intake/take-items.ts';
import { ITEM_COLUMNS, REQUEST_COLUMNS } from '../db/item-rows.ts';
import { inTransaction } from '../db/transaction.ts';
import { count, growthOf, type Measurement, median, peakMemory, perSecond } from './measurement.ts';

const RUNS = 3;
/** As a socket gives it, and as COPY likes it. */
const BODY_CHUNK_BYTES = 64 * 1024;
const COPY_CHUNK_BYTES = 512 * 1024;
/** A month of its own, whose partitions are dropped again. */
const BUCKET = 200_001;
const TENANT = 'tenant_bench_intake';
const TABLES = [
  { name: `batch_items_${BUCKET}`, columns: ITEM_COLUMNS },
  { name: `item_requests_${BUCKET}`, columns: REQUEST_COLUMNS },
] as const;

/**
 * Appends items of 1 kB, and copies the very same rows as COPY text on one connection in one transaction, in turn, for
 * jobs of each size. The ratio is of median rates. Needs a migrated database; leaves nothing in it.
 */
export async function measureIntake(databaseUrl: string, sizes: readonly number[]): Promise<Measurement[]> {
  const db = openDatabase({ url: databaseUrl, poolSize: 2, applicationName: 'bench-intake' });
  const directory = await mkdtemp(join(tmpdir(), 'batchgate-bench-'));
  const spool = { directory, memoryBytes: DEFAULT_SPOOL_MEMORY_BYTES, space: new SpoolSpace(2 ** 33) };
  const dependencies = { db, now: () => new Date(), intake: { spool, limits: DEFAULT_INTAKE_LIMITS } };
  const times = new Map<number, number>();
  const measured: Measurement[] = [];
  try {
    await prepare(db);
    for (const items of sizes) {
      const body = makeBody(items);
      const appendMs: number[] = [];
      const copyMs: number[] = [];
      for (let run = 0; run < RUNS; run += 1) {
        appendMs.push(await timeAppend(dependencies, { body, items }));
        copyMs.push(await timeCopy(db));
      }
      const [append, copy] = [median(appendMs), median(copyMs)];
      times.set(items, append);
      measured.push({
        name: `append ${count(items)} items of 1 kB`,
        ratio: copy / append,
        goal: { atLeast: 0.6 },
        detail: `append ${perSecond(items, append)}, raw COPY text of the same rows ${perSecond(items, copy)}, median of ${RUNS}; ${peakMemory()}`,
      });
    }
    return [...measured, ...growthOf('append', times)];
  } finally {
    await dropAll(db);
    await db.close();
    await rm(directory, { recursive: true, force: true });
  }
}

async function prepare({ pool }: Database): Promise<void> {
  await pool.query('SELECT ensure_partitions($1)', [BUCKET]);
  await pool.query('INSERT INTO tenants (tenant_id, name) VALUES ($1, $1) ON CONFLICT DO NOTHING', [TENANT]);
}

let jobs = 0;

async function timeAppend(
  dependencies: IntakeDependencies,
  { body, items }: { body: Buffer; items: number },
): Promise<number> {
  const { pool } = dependencies.db;
  await pool.query(`TRUNCATE ${TABLES.map((table) => table.name).join(', ')}`);
  jobs += 1;
  const uuid = `00dc6acf-ac00-7000-8000-${String(jobs).padStart(12, '0')}`;
  await pool.query(
    `INSERT INTO batch_jobs (job_id, bucket, tenant_id, api_key_id, endpoint, requested_model, currency, created_at)
     VALUES ($1, $2, $3, 'bench', 'chat.completions', 'openai/gpt-4o-mini', 'USD', now())`,
    [uuid, BUCKET, TENANT],
  );
  const start = performance.now();
  const { accepted } = await appendItems(dependencies, {
    principal: {
      keyId: 'bench',
      role: 'tenant_admin',
      tenantId: TENANT,
      projectId: null,
      customerId: null,
      scopes: [],
    },
    jobId: fromUuid('job', uuid),
    format: 'ndjson',
    stream: Readable.from(cut(body, BODY_CHUNK_BYTES)),
  });
  if (accepted !== items) throw new Error(`${accepted} items were accepted, not ${items}`);
  return performance.now() - start;
}

/** Reads the stored rows back as text and copies them into the emptied tables. */
async function timeCopy(db: Database): Promise<number> {
  const texts = await readRows(db);
  await db.pool.query(`TRUNCATE ${TABLES.map((table) => table.name).join(', ')}`);
  const start = performance.now();
  await inTransaction(db, async (client) => {
    for (const [index, { name, columns }] of TABLES.entries()) {
      const copy = client.query(copyFrom(`COPY ${name} (${columns.join(', ')}) FROM STDIN`));
      await pipeline(Readable.from(cut(texts[index] ?? Buffer.alloc(0), COPY_CHUNK_BYTES)), copy);
    }
  });
  return performance.now() - start;
}

async function readRows({ pool }: Database): Promise<Buffer[]> {
  const client = await pool.connect();
  try {
    const texts: Buffer[] = [];
    for (const { name, columns } of TABLES) {
      texts.push(Buffer.concat(await client.query(copyTo(`COPY ${name} (${columns.join(', ')}) TO STDOUT`)).toArray()));
    }
    return texts;
  } finally {
    client.release();
  }
}

function* cut(bytes: Buffer, chunkBytes: number): Generator<Buffer> {
  for (let start = 0; start < bytes.length; start += chunkBytes) yield bytes.subarray(start, start + chunkBytes);
}

function makeBody(items: number): Buffer {
  const lines: Buffer[] = [];
  for (let index = 0; index < items; index += 1) {
    const text = `Ticket ${index}: the customer writes "it does not work any more"\nand asks what to do next. `;
    const messages = [
      { role: 'system', content: 'Classify the ticket. Answer with one word.' },
      { role: 'user', content: text.repeat(9) },
    ];
    const request = { messages, max_tokens: 20, temperature: 0 };
    lines.push(Buffer.from(`${JSON.stringify({ custom_id: `ticket_${index}`, request })}\n`));
  }
  return Buffer.concat(lines);
}

async function dropAll({ pool }: Database): Promise<void> {
  const { rows } = await pool.query<{ leaf: string }>(
    `SELECT c.oid::regclass::text AS leaf FROM pg_inherits i JOIN pg_class c ON c.oid = i.inhrelid WHERE c.relname LIKE $1`,
    [`%\\_${BUCKET}`],
  );
  for (const { leaf } of rows) await pool.query(`DROP TABLE ${leaf}`);
  await pool.query('DELETE FROM job_item_groups WHERE job_id IN (SELECT job_id FROM batch_jobs WHERE tenant_id = $1)', [
    TENANT,
  ]);
  await pool.query('DELETE FROM batch_jobs WHERE tenant_id = $1', [TENANT]);
  await pool.query('DELETE FROM tenants WHERE tenant_id = $1', [TENANT]);
}
