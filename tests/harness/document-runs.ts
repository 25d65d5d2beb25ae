import { MockActivityEnvironment } from '@temporalio/testing';
import { createDatabaseActivities, createProviderActivities } from '../../activities/create-activities.ts';
import type { ActivityDependencies } from '../../activities/dependencies.ts';
import { createDocumentActivities } from '../../activities/documents/create-document-activities.ts';
import type { DocumentRunStep, DocumentStep } from '../../activities/interfaces.ts';
import type { ArtifactStore } from '../../artifacts/store.ts';
import type { Database } from '../../db/client.ts';
import { jobIdOf, toUuid } from '../../db/ids.ts';
import { parseNumeric } from '../../domain/money.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { CreateBatchInput, LineResult, NativeBatch } from '../../providers/provider.ts';
import { ProviderError } from '../../providers/provider-error.ts';
import { runActivity, testDependencies } from './activities.ts';
import { type ApiCaller, createTestApi, type TestApi } from './api.ts';
import { FakeProvider } from './fake-provider.ts';

const COLUMNS = [
  { name: 'vendor', required: true },
  { name: 'total', type: 'currency' },
];

/** A completion in the shape that every adapter gives, which says so much. */
export function completionOf(content: string, finishReason = 'stop'): string {
  const choices = [{ index: 0, message: { role: 'assistant', content }, finish_reason: finishReason }];
  return JSON.stringify({ id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-4o-mini', choices });
}

/** Rows as a model gives them. */
export function rowsOf(...rows: readonly Record<string, unknown>[]): string {
  return JSON.stringify({ rows: rows.map((row) => ({ ...row, page_number: 1, confidence_score: 0.9 })) });
}

export const ONE_ROW = rowsOf({ vendor: 'Acme', total: '12.50' });
export const USAGE = { inputTokens: 100, outputTokens: 20 };
/** Of gpt-4o-mini, one answer with that usage at the batch price, and at the standard price. */
export const BATCH_PRICE = 100n * 75_000n + 20n * 300_000n;
export const STANDARD_PRICE = 2n * BATCH_PRICE;

/** What a document is answered with: a text, or a failure. */
export type Answered = string | LineResult;

/** A provider that answers by the text of the document, in batches and by itself. */
class DocumentProvider extends FakeProvider {
  /** Of a request, by all that it says. A repair is asked for with `does not fit`. */
  onAsk: (request: string) => Answered = () => ONE_ROW;
  /** What was asked in batches, by the id of the item there. */
  readonly asked = new Map<string, string>();
  /** What lines were answered with, however often they are read. */
  readonly #answers = new Map<string, LineResult>();
  /** Tokens of answers that were given by themselves. */
  #directUses = 0;

  override encodeItem(item: Parameters<FakeProvider['encodeItem']>[0]): string {
    this.asked.set(item.providerItemId, JSON.stringify(item.request));
    return super.encodeItem(item);
  }

  override onComplete: FakeProvider['onComplete'] = async ({ request }) => {
    const result = toResult(this.onAsk(JSON.stringify(request)));
    if (isBilled(result)) this.#directUses += 1;
    if (result.kind !== 'completed' && result.kind !== 'failed') throw new Error(`no direct answer: ${result.kind}`);
    return result;
  };

  /** A line is the id of an item, answered as it was asked. */
  override decodeLine(_endpoint: string, line: string): ReturnType<FakeProvider['decodeLine']> {
    const result = this.#answers.get(line) ?? toResult(this.onAsk(this.asked.get(line) ?? ''));
    this.#answers.set(line, result);
    return { kind: 'result', providerItemId: line, result };
  }

  /** A create whose answer is lost may have made its batch. */
  override async createBatch(input: CreateBatchInput): Promise<NativeBatch> {
    try {
      return await super.createBatch(input);
    } catch (error) {
      if (error === MADE_AND_LOST) this.move(`batch-${input.attemptToken}`, {});
      throw error;
    }
  }

  override async findBatches({ attemptToken }: { attemptToken: string }): Promise<NativeBatch[]> {
    const batch = this.batches.get(`batch-${attemptToken}`);
    return batch === undefined ? [] : [batch];
  }

  /** How many answers it charges for: by themselves, and of lines in batches that were read. */
  get billed(): { readonly direct: number; readonly batch: number } {
    const lines = new Set([...this.results.values()].flat());
    const batch = [...this.#answers].filter(([line, result]) => lines.has(line) && isBilled(result)).length;
    return { direct: this.#directUses, batch };
  }

  /** Ends every open batch with a line for each of its items, but for those left out. */
  endAll(
    end: 'completed' | 'expired' | 'cancelled' = 'completed',
    isAnswered: (request: string) => boolean = () => true,
  ): void {
    for (const [id, batch] of this.batches) {
      if (batch.phase === 'ended') continue;
      const token = id.replace(/^batch-/, '');
      const items = [...this.asked.keys()].filter((item) => item.startsWith(`${token}-`));
      this.results.set(
        id,
        items.filter((item) => isAnswered(this.asked.get(item) ?? '')),
      );
      this.move(id, { phase: 'ended', end, nativeStatus: end });
    }
  }
}

/** Thrown by `onCreate`: the batch is there, and its create is never answered. */
export const MADE_AND_LOST = new ProviderError({
  ...{ code: 'connection_lost', message: 'lost', isRetryable: true, mayHaveActed: true },
});

function isBilled(result: LineResult): boolean {
  return 'usage' in result && result.usage !== null && result.usage !== undefined;
}

function toResult(answered: Answered): LineResult {
  if (typeof answered !== 'string') return answered;
  return { kind: 'completed', body: completionOf(answered), usage: USAGE, model: 'gpt-4o-mini' };
}

export interface RunMoney {
  readonly jobId: string;
  readonly state: string;
  readonly reserved: bigint;
  readonly settled: bigint;
  readonly released: bigint;
  readonly held: bigint;
  readonly events: readonly string[];
}

/** Documents that are uploaded and processed by the api, and runs moved by their activities without a workflow. */
export class TestRuns {
  readonly db: Database;
  readonly api: TestApi;
  readonly provider = new DocumentProvider();
  readonly dependencies: ActivityDependencies;
  /** Runs that were told that something changed. */
  readonly woken: string[] = [];
  /** Batch jobs that were started or cancelled, oldest first. */
  readonly jobs: string[] = [];
  readonly cancelledJobs: string[] = [];
  /** Shards that were told to look, as `job/shard`. */
  readonly wokenShards: string[] = [];
  readonly tenants = new Map<ApiCaller, string>();
  #aheadMs = 0;
  /** How far the clock of the host that works now is off. */
  skewMs = 0;

  constructor(db: Database, artifacts: ArtifactStore, overrides: Partial<ActivityDependencies> = {}) {
    this.db = db;
    this.dependencies = testDependencies(db, {
      now: this.now,
      provider: this.provider,
      artifacts,
      runs: { start: async () => false, wake: async (runId) => void this.woken.push(runId) },
      workflows: {
        start: async ({ jobId }) => {
          this.jobs.push(jobId);
          return true;
        },
        signalCancel: async (jobId) => void this.cancelledJobs.push(jobId),
        wakeShard: async (jobId, shard) => void this.wokenShards.push(`${jobId}/${shard}`),
        wakeJob: async () => false,
        isShardRunning: async () => false,
      },
      ...overrides,
    });
    this.api = createTestApi(db, { now: this.now, artifacts });
  }

  now = (): Date => new Date(Date.now() + this.#aheadMs + this.skewMs);

  advance(ms: number): void {
    this.#aheadMs += ms;
  }

  /** A key of a new tenant, with a policy of its own where one is given. */
  async caller(policy: Record<string, unknown> = {}, limit: string | null = '1000'): Promise<ApiCaller> {
    const tenantId = await this.api.tenant(limit);
    await this.db.pool.query('UPDATE tenants SET policy = $2 WHERE tenant_id = $1', [tenantId, JSON.stringify(policy)]);
    const caller = await this.api.caller('tenant_admin', { tenantId });
    this.tenants.set(caller, tenantId);
    return caller;
  }

  /** The id of a run. */
  async process(caller: ApiCaller, batchName: string, asked: Record<string, unknown> = {}): Promise<string> {
    const body = { columns: COLUMNS, model: 'openai/gpt-4o-mini', ...asked };
    const answer = await caller.post(`/v1/batches/${encodeURIComponent(batchName)}/process`, body);
    if (answer.status !== 202) throw new Error(`process answered ${answer.status}: ${answer.text}`);
    return answer.json.run_id;
  }

  review(runId: string, more: { readonly cancel?: boolean } = {}): Promise<DocumentRunStep> {
    const { reviewRun } = createDatabaseActivities(this.dependencies);
    return new MockActivityEnvironment().run(reviewRun, { runId, ...more });
  }

  attempt(runId: string, context = new MockActivityEnvironment()): Promise<DocumentStep> {
    return context.run(createDocumentActivities(this.dependencies).attemptDocument, { runId });
  }

  write(runId: string): Promise<{ left: number }> {
    return new MockActivityEnvironment().run(createDocumentActivities(this.dependencies).writeRequests, { runId });
  }

  /** As its workflow does, but for batches: those are the test's to move. Answers the last step. */
  async untilWaiting(runId: string): Promise<DocumentRunStep> {
    for (;;) {
      const step = await this.review(runId);
      if (step.kind === 'over') return step;
      if (step.kind === 'wait') {
        const isOfJob = this.jobs.includes(runId) && step.delayMs >= 300_000;
        if (isOfJob) return step;
        this.advance(step.delayMs);
      }
      if (step.kind === 'write') await this.write(runId);
      if (step.kind === 'attempt') await this.lane(runId);
    }
  }

  /** One lane of its workflow, to its end. */
  async lane(runId: string): Promise<void> {
    for (;;) {
      const step = await this.attempt(runId);
      if (step.kind === 'idle') return;
      if (step.kind === 'wait') this.advance(step.delayMs);
    }
  }

  /** Moves the batch job of a run as far as its provider lets it; true once it is over. */
  async driveJob(runId: string): Promise<boolean> {
    const { readShards, reconcileJob } = createDatabaseActivities(this.dependencies);
    const { open } = await runActivity(readShards, { jobId: runId });
    const areOver = [];
    for (const { shard } of open) areOver.push(await this.#driveShard(runId, shard));
    if (areOver.includes(false)) return false;
    await runActivity(reconcileJob, { jobId: runId });
    return true;
  }

  async #driveShard(jobId: string, shard: number): Promise<boolean> {
    const { nextStep, closeShard } = createDatabaseActivities(this.dependencies);
    const { submitAttempt, resolveAttempt, pollAttempt } = createProviderActivities(this.dependencies);
    for (;;) {
      const step = await runActivity(nextStep, { jobId, shard });
      if (step.kind === 'settled') return true;
      if (step.kind === 'close') await runActivity(closeShard, { jobId, shard, reason: step.reason });
      if (step.kind === 'close') continue;
      if (step.kind === 'held') return false;
      const ref = { jobId, shard, attempt: step.attempt };
      if (step.kind === 'submit') {
        const sent = await runActivity(submitAttempt, ref);
        if (sent.kind === 'close') await runActivity(closeShard, { jobId, shard, reason: sent.reason });
        // Without a delay the rows have moved on, and say what comes next.
        if (sent.kind === 'unknown' || (sent.kind === 'wait' && sent.delayMs > 0)) return false;
      } else if (step.kind === 'resolve') {
        if (step.lookAfterMs > 0) return false;
        for (let look = 1; ; look += 1) {
          const { kind } = await runActivity(resolveAttempt, { ...ref, look });
          if (kind !== 'look_again') break;
        }
      } else {
        const { kind } = await runActivity(pollAttempt, { ...ref, pollsWithoutChange: 0 });
        if (kind === 'open') return false;
        await this.#ingest(ref);
      }
    }
  }

  async #ingest(ref: { readonly jobId: string; readonly shard: number; readonly attempt: number }): Promise<void> {
    const { closeShard } = createDatabaseActivities(this.dependencies);
    const { ingestAttempt } = createProviderActivities(this.dependencies);
    for (let reading = 1; ; reading += 1) {
      const read = await runActivity(ingestAttempt, { ...ref, reading, mayRetry: true });
      const { jobId, shard } = ref;
      if (read.next === 'close') await runActivity(closeShard, { jobId, shard, reason: read.reason });
      if (read.next === 'close' || read.next === 'resubmit') return;
      this.advance(read.delayMs);
    }
  }

  /** The documents of a batch as the api shows them, in the order of upload. */
  async documents(caller: ApiCaller, batchName: string) {
    const { json } = await caller.get(`/v1/documents?limit=100&batch_name=${encodeURIComponent(batchName)}`);
    return json.data;
  }

  /** The money of a run by its jobs, the run's own first. Throws where the ledger does not agree with itself. */
  async money(runId: string): Promise<RunMoney[]> {
    const { rows } = await this.db.pool.query(
      `SELECT j.job_id, j.state, j.reserved_amount AS reserved, p.settled_amount AS settled, h.amount - h.drawn AS held, h.released,
         (SELECT array_agg(DISTINCT e.event ORDER BY e.event) FROM ledger_entries e
          WHERE e.subject_id = j.job_id AND e.bucket = j.bucket AND e.account = 'tenant') AS events
       FROM document_runs r JOIN batch_jobs j ON j.job_id IN (r.run_id, r.repair_job_id) JOIN job_progress p USING (job_id)
       JOIN holds h ON h.job_id = j.job_id AND h.scope = 'tenant' AND h.period = 'total'
       WHERE r.run_id = $1 ORDER BY j.job_id <> r.run_id`,
      [toUuid('documentRun', runId)],
    );
    const all = rows.map((row) => ({
      jobId: jobIdOf({ kind: 'document', uuid: row.job_id }),
      state: row.state,
      reserved: parseNumeric(row.reserved),
      settled: parseNumeric(row.settled),
      released: row.released === null ? 0n : parseNumeric(row.released),
      held: row.released === null ? parseNumeric(row.held) : 0n,
      events: row.events,
    }));
    for (const { jobId } of all) {
      const { differences } = await verifyLedger(this.db, { jobId });
      if (differences.length > 0) throw new Error(JSON.stringify(differences));
    }
    return all;
  }

  /** The events of the end of runs, the oldest first. */
  async events(caller: ApiCaller): Promise<Record<string, unknown>[]> {
    const { rows } = await this.db.pool.query(
      "SELECT data FROM events WHERE type = 'document_batch.run_finished' AND tenant_id = $1 ORDER BY event_no",
      [this.tenants.get(caller)],
    );
    return rows.map(({ data }) => data);
  }
}
