import fc from 'fast-check';
import { afterAll, expect, test } from 'vitest';
import { batchState, type DocumentState, mayDocumentMove } from '../../../domain/document.ts';
import { lawHolds } from '../../../domain/ledger-entry.ts';
import { parseNumeric } from '../../../domain/money.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import type { ApiCaller } from '../../harness/api.ts';
import {
  type Answered,
  BATCH_PRICE,
  MADE_AND_LOST,
  ONE_ROW,
  rowsOf,
  STANDARD_PRICE,
  TestRuns,
  USAGE,
} from '../../harness/document-runs.ts';
import { refusal } from '../../harness/fake-provider.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { createTestFolder, fileOf, upload } from './document-fixture.ts';

const { db, drop } = await createTestDatabase();
const folder = createTestFolder();
afterAll(async () => {
  await drop();
  folder.remove();
});

/** What a request comes to, by itself or in a batch. */
const ANSWERS = ['rows', 'misfit', 'refused', 'blocked', 'busy', 'crash'] as const;
const CRASH = 'the worker died';
/** Requests of a few documents are written by then. */
const MOST_REVIEWS = 3;
const END = ['completed', 'expired', 'cancelled'] as const;
const which = fc.nat(5);
const mode = fc.constantFrom('direct' as const, 'batch' as const, 'batch' as const);
const include = fc.constantFrom('queued' as const, 'failed' as const);
const answers = fc.array(fc.constantFrom(...ANSWERS), { minLength: 1, maxLength: 4 });
const kind = <Kind extends string>(name: Kind) => fc.constant(name);
const uploads = fc.record({ kind: kind('upload'), files: fc.integer({ min: 1, max: 3 }) });
const processes = fc.record({ kind: kind('process'), mode, include });
const times = fc.integer({ min: 1, max: 4 });
/** What somebody does while a batch is uploaded, or its create is on its way, and how the provider answers the create. */
const MEANWHILE = ['delete', 'delete and review', 'cancel', 'review', 'process'] as const;
const CREATES = ['accepted', 'refused', 'lost', 'made and lost'] as const;
const meanwhile = fc.option(fc.constantFrom(...MEANWHILE), { freq: 3 });
const creates = fc.oneof(
  { weight: 2, arbitrary: fc.constant('accepted' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...CREATES) },
);
/** How far the clock of the host that makes a step is off. */
const skewMs = fc.constantFrom(0, 0, -3_000, -40, 40, 3_000);
const step = fc.oneof(
  { weight: 3, arbitrary: uploads },
  { weight: 3, arbitrary: processes },
  {
    weight: 8,
    arbitrary: fc.record({ kind: kind('attempt'), which, answers, times, lanes: fc.integer({ min: 1, max: 3 }) }),
  },
  { weight: 6, arbitrary: fc.record({ kind: kind('review'), which, times, cancel: fc.nat(19).map((n) => n === 0) }) },
  {
    weight: 10,
    arbitrary: fc.record({
      ...{ kind: kind('drive'), which, isPrepared: fc.nat(3).map((n) => n > 0) },
      ...{ onUpload: meanwhile, onCreate: meanwhile, create: creates },
    }),
  },
  { weight: 4, arbitrary: fc.record({ kind: kind('endBatches'), end: fc.constantFrom(...END), answers }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('delete') }) },
  { weight: 1, arbitrary: fc.record({ kind: kind('loseFile'), which }) },
  { weight: 2, arbitrary: fc.record({ kind: kind('wait'), seconds: fc.integer({ min: 1, max: 120 }) }) },
);
/** Something is there to be worked on from the beginning. */
const courses = fc
  .tuple(uploads, processes, fc.array(fc.tuple(step, skewMs), { minLength: 8, maxLength: 30, size: 'max' }))
  .map(([upload, process, steps]): Course => [[upload, 0], [process, 0], ...steps]);
type Step = typeof step extends fc.Arbitrary<infer Value> ? Value : never;
type Course = readonly (readonly [step: Step, skewMs: number])[];
type Drive = Extract<Step, { kind: 'drive' }>;

interface Seen {
  readonly status: DocumentState;
  readonly run_id: string | null;
  readonly created_at: string;
  readonly started_at: string | null;
  readonly completed_at: string | null;
  readonly line_items: unknown;
  readonly processing_error: unknown;
}

class World {
  readonly runs: TestRuns;
  readonly caller: ApiCaller;
  readonly documents: string[] = [];
  readonly runIds: string[] = [];
  readonly #seen = new Map<string, Seen>();
  #answers: readonly (typeof ANSWERS)[number][] = ['rows'];
  #asked = 0;

  constructor(runs: TestRuns, caller: ApiCaller) {
    this.runs = runs;
    this.caller = caller;
    this.runs.provider.onAsk = () => this.#answer();
    const { onComplete } = this.runs.provider;
    this.runs.provider.onComplete = async (input) => {
      const next = this.#answers[this.#asked % this.#answers.length];
      if (next !== 'crash' && next !== 'busy') return onComplete(input);
      this.#asked += 1;
      if (next === 'crash') throw new Error(CRASH);
      throw new ProviderError({ code: 'rate_limited', message: 'busy', isRetryable: true, mayHaveActed: false });
    };
  }

  #answer(): Answered {
    const next = this.#answers[this.#asked % this.#answers.length];
    this.#asked += 1;
    const failed = { kind: 'failed', message: 'x', nativeType: null, nativeCode: null, statusCode: 400 } as const;
    if (next === 'refused') return { ...failed, class: 'validation', code: 'invalid_request' };
    if (next === 'blocked') return { ...failed, class: 'safety_blocked', code: 'safety_blocked', usage: USAGE };
    return next === 'misfit' ? rowsOf({ total: 'much' }) : ONE_ROW;
  }

  async make(made: Step): Promise<void> {
    const runId = 'which' in made ? this.runIds[made.which % Math.max(1, this.runIds.length)] : undefined;
    if ('answers' in made) this.#answers = made.answers;
    switch (made.kind) {
      case 'upload':
        for (let file = 0; file < made.files; file += 1)
          this.documents.push((await upload(this.caller, 'b', `text ${this.documents.length}`)).json.id);
        return;
      case 'process': {
        const body = {
          columns: [
            { name: 'vendor', required: true },
            { name: 'total', type: 'currency' },
          ],
          model: 'openai/gpt-4o-mini',
        };
        const answer = await this.caller.post('/v1/batches/b/process', {
          ...body,
          mode: made.mode,
          include: made.include,
        });
        expect([202, 404, 409]).toContain(answer.status);
        if (answer.status === 202) this.runIds.push(answer.json.run_id);
        return;
      }
      case 'delete':
        expect([200, 404]).toContain((await this.caller.call('DELETE', '/v1/batches/b')).status);
        return;
      case 'loseFile': {
        const documentId = this.documents[made.which % Math.max(1, this.documents.length)];
        if (documentId !== undefined) await folder.store.delete(await fileOf(db, documentId));
        return;
      }
      case 'endBatches':
        this.runs.provider.endAll(made.end, () => made.end === 'completed' || this.#asked % 2 === 0);
        return;
      case 'wait':
        this.runs.advance(made.seconds * 1_000);
        return;
      default:
        if (runId !== undefined) await this.#work(made, runId);
    }
  }

  /** A worker that dies over what it had asked leaves everything as it was. */
  async #attempt(runId: string): Promise<void> {
    await this.runs.attempt(runId).catch((error: unknown) => {
      if (!String(error).includes(CRASH)) throw error;
    });
  }

  async #work(made: Extract<Step, { kind: 'attempt' | 'review' | 'drive' }>, runId: string): Promise<void> {
    if (made.kind === 'drive') {
      if (made.isPrepared) await this.#review(runId, MOST_REVIEWS, false);
      if (this.runs.jobs.includes(runId)) await this.#drive(made, runId);
      return;
    }
    if (made.kind === 'review') return this.#review(runId, made.times, made.cancel);
    for (let time = 0; time < made.times; time += 1)
      await Promise.all(Array.from({ length: made.lanes }, () => this.#attempt(runId)));
  }

  async #review(runId: string, times: number, cancel: boolean): Promise<void> {
    for (let time = 0; time < times; time += 1) {
      const next = await this.runs.review(runId, { cancel });
      if (next.kind !== 'write') return;
      await this.runs.write(runId);
    }
  }

  async #drive({ onUpload, onCreate, create }: Drive, runId: string): Promise<void> {
    const { provider } = this.runs;
    provider.onUpload = () => this.#meanwhile(onUpload, runId);
    provider.onCreate = async () => {
      await this.#meanwhile(onCreate, runId);
      if (create === 'made and lost') throw MADE_AND_LOST;
      if (create === 'refused') throw refusal('rate_limited');
      if (create === 'lost')
        throw new ProviderError({ code: 'timed_out', message: 'lost', isRetryable: true, mayHaveActed: true });
      return {};
    };
    await this.runs.driveJob(runId);
    provider.onUpload = async () => undefined;
    provider.onCreate = async () => ({});
  }

  async #meanwhile(what: (typeof MEANWHILE)[number] | null, runId: string): Promise<void> {
    switch (what) {
      case null:
        return;
      case 'delete':
        return this.make({ kind: 'delete' });
      case 'delete and review':
        await this.make({ kind: 'delete' });
        await this.runs.review(runId);
        return;
      case 'process':
        return this.make({ kind: 'process', mode: 'batch', include: 'failed' });
      case 'cancel':
      case 'review':
        await this.runs.review(runId, { cancel: what === 'cancel' });
    }
  }

  /** Lets everything come to its end. */
  async finish(): Promise<void> {
    this.#answers = ['rows'];
    for (const runId of this.runIds) {
      for (let turn = 0; ; turn += 1) {
        const next = await this.runs.untilWaiting(runId);
        if (next.kind === 'over') break;
        expect(turn).toBeLessThan(10);
        // Creates that were not answered are looked for.
        this.runs.advance(600_000);
        await this.runs.driveJob(runId);
        this.runs.provider.endAll();
        await this.runs.driveJob(runId);
      }
    }
  }

  async checkDocuments(): Promise<void> {
    // One key asks for more than it may in a minute.
    await db.pool.query('DELETE FROM rate_limits');
    const { json } = await this.caller.get('/v1/documents?limit=100');
    const seen = new Map<string, Seen>(json.data.map((document: Seen & { id: string }) => [document.id, document]));
    for (const documentId of this.documents.slice(0, 100)) {
      const now = seen.get(documentId);
      if (now === undefined) throw new Error(`no document ${documentId}`);
      this.#checkDocument(documentId, now);
    }
    await this.#checkBatch();
  }

  /** A batch is what its documents make of it. */
  async #checkBatch(): Promise<void> {
    const { status, json } = await this.caller.get('/v1/batches/b');
    expect(status).toBe(200);
    const { data } = (await this.caller.get('/v1/documents?limit=100&batch_name=b')).json;
    const documents: readonly Seen[] = data;
    const countOf = (state: DocumentState) => documents.filter((document) => document.status === state).length;
    const counts = { queued: countOf('queued'), processing: countOf('processing'), succeeded: countOf('succeeded') };
    const all = { ...counts, failed: countOf('failed'), canceled: countOf('canceled') };
    const isOver = documents.every(({ completed_at: at }) => at !== null);
    const sorted = (times: readonly (string | null)[]) => times.filter((time) => time !== null).toSorted();
    expect(json).toMatchObject({
      ...{ counts: all, status: batchState(all), all_done: isOver },
      created_at: sorted(documents.map(({ created_at: at }) => at))[0],
      started_at: sorted(documents.map(({ started_at: at }) => at))[0] ?? null,
      completed_at: isOver ? sorted(documents.map(({ completed_at: at }) => at)).at(-1) : null,
    });
  }

  /** What the provider bills is charged, once, at the price of its mode; and nothing else is, nor anything that was canceled. */
  async checkBill(): Promise<void> {
    const money = (await Promise.all(this.runIds.map((runId) => this.runs.money(runId)))).flat();
    const { direct, batch } = this.runs.provider.billed;
    const settled = money.reduce((sum, each) => sum + each.settled, 0n);
    expect(settled).toBe(BigInt(direct) * STANDARD_PRICE + BigInt(batch) * BATCH_PRICE);
    const { rows } = await db.pool.query(
      `SELECT o.item_no FROM documents d JOIN item_outcomes o ON o.job_id = d.run_id AND o.item_no = d.item_no
       WHERE d.tenant_id = $1 AND d.state = 'canceled' AND o.amount > 0`,
      [this.runs.tenants.get(this.caller)],
    );
    expect(rows).toEqual([]);
  }

  async checkMoney(): Promise<void> {
    const money = (await Promise.all(this.runIds.map((runId) => this.runs.money(runId)))).flat();
    for (const { reserved, settled, released, held } of money) {
      const overage = settled > reserved ? settled - reserved : 0n;
      expect(lawHolds({ reserved, overage, settled, released, held })).toBe(true);
    }
    const { rows } = await db.pool.query(
      'SELECT coalesce(sum(held), 0) AS held, coalesce(sum(settled), 0) AS settled FROM budget_periods p JOIN budgets b USING (budget_id) WHERE tenant_id = $1',
      [this.runs.tenants.get(this.caller)],
    );
    expect(parseNumeric(rows[0].held)).toBe(money.reduce((sum, { held }) => sum + held, 0n));
    expect(parseNumeric(rows[0].settled)).toBe(money.reduce((sum, { settled }) => sum + settled, 0n));
  }

  #checkDocument(documentId: string, now: Seen): void {
    const before = this.#seen.get(documentId);
    this.#seen.set(documentId, now);
    expect(['queued', 'processing', 'succeeded', 'failed', 'canceled']).toContain(now.status);
    if (before !== undefined && before.status !== now.status) expect(canReach(before, now)).toBe(true);
    if (
      before !== undefined &&
      before.status === now.status &&
      before.run_id === now.run_id &&
      before.started_at !== null
    )
      expect(now.started_at).toBe(before.started_at);
    const hasEnded = ['succeeded', 'failed', 'canceled'].includes(now.status);
    expect(now.completed_at !== null).toBe(hasEnded);
    if (now.status === 'queued' || now.status === 'canceled') expect(now.started_at).toBeNull();
    if (now.status === 'processing' || now.status === 'succeeded') expect(now.started_at).not.toBeNull();
    expect(now.line_items !== null).toBe(now.status === 'succeeded');
    expect(now.processing_error !== null).toBe(now.status === 'failed');
    const times = [now.created_at, now.started_at, now.completed_at].filter((time) => time !== null);
    expect(times).toEqual(times.toSorted());
  }

  async isOver(): Promise<boolean> {
    const { rows } = await db.pool.query(
      `SELECT count(*)::int AS open FROM document_runs r JOIN document_batches b USING (batch_id)
       WHERE b.tenant_id = $1 AND (r.state = 'running' OR EXISTS (SELECT FROM documents d WHERE d.run_id = r.run_id AND d.state IN ('queued', 'processing'))
         OR EXISTS (SELECT FROM batch_jobs j WHERE j.job_id IN (r.run_id, r.repair_job_id) AND j.completed_at IS NULL))`,
      [this.runs.tenants.get(this.caller)],
    );
    return rows[0].open === 0;
  }
}

/** By legal moves alone, of which several may lie between two looks; a run anew is of another id. */
function canReach(from: Seen, to: Seen): boolean {
  const reach = new Set<DocumentState>([from.status]);
  const isNewRun = from.run_id !== to.run_id;
  for (let moves = 0; moves < 6; moves += 1) {
    for (const at of [...reach])
      for (const next of ['queued', 'processing', 'succeeded', 'failed', 'canceled'] as const)
        if (mayDocumentMove(at, next) && (isNewRun || !(at === 'failed' && next === 'queued'))) reach.add(next);
  }
  return reach.has(to.status);
}

test('over any uploads, runs, deletions and crashes there are five states, legal steps, a chain of times, and the laws of money', async () => {
  await fc.assert(
    fc.asyncProperty(courses, async (steps) => {
      const runs = new TestRuns(db, folder.store);
      const world = new World(runs, await runs.caller());
      for (const [index, [made, skewMs]] of steps.entries()) {
        runs.skewMs = skewMs;
        await world.make(made);
        runs.skewMs = 0;
        await world.checkDocuments();
        if (index % 8 === 0) await world.checkMoney();
      }
      await world.finish();
      await world.checkDocuments();
      await world.checkMoney();
      await world.checkBill();
      expect(await world.isOver()).toBe(true);
    }),
    { numRuns: 15 },
  );
});
