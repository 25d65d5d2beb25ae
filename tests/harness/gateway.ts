import type { AddressInfo } from 'node:net';
import { serve } from '@hono/node-server';
import { createApp } from '../../api/app.ts';
import { createScheduleClock } from '../../api/schedule-clock.ts';
import { createJobWorkflows } from '../../api/temporal.ts';
import { createKey } from '../../db/api-keys.ts';
import { createWebhookVerifiers } from '../../providers/webhooks.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { TEST_CIPHER } from './activities.ts';
import { startEngine, type TestEngine, type TestEngineOptions } from './engine.ts';
import { eventually } from './eventually.ts';
import { insertTenant } from './jobs.ts';
import { scopedDatabase } from './postgres.ts';
import { testLimits } from './request-limits.ts';
import { findFaults } from './soundness.ts';
import { TEST_FETCH_HOSTS, testDocuments, testIntake } from './test-intake.ts';

/** What the gateway of a test takes events of providers by. */
export const TEST_WEBHOOK_SECRET = 'whsec_YSBzZWNyZXQgb2YgdGhlIHRlc3Rz';

const TERMINAL = ['completed', 'completed_with_errors', 'expired', 'cancelled', 'failed'];

/** The parts of answers that tests read. */
export interface JobAnswer {
  job_id: string;
  status: string;
  waiting: { reason: string } | null;
  counts: Record<'total' | 'submitted' | 'completed' | 'failed' | 'expired' | 'cancelled' | 'retries', number>;
  failures: Record<string, number>;
  cost: Record<'estimated' | 'reserved' | 'held' | 'settled', string>;
  cancel: { outcome: string | null; by?: string | null; reason?: string | null } | null;
  error: { code: string } | null;
  progress: { completed: number; failed: number } | null;
  warnings?: { code: string }[];
  unmatched_lines?: number;
  completed_at?: string | null;
}

export interface ResultRow {
  custom_id: string;
  status: string;
  result: Record<string, unknown> | null;
  error: { class: string; code: string; message: string } | null;
  usage: Record<string, number | boolean> | null;
  cost: string;
}

export type BudgetAnswer = Record<'limit' | 'held' | 'settled' | 'available', string>;

export type LedgerAnswer = Record<'event' | 'amount' | 'actor' | 'cause' | 'created_at', string>;

/** One caller of the gateway: a key and the calls tests make with it. */
export class Caller {
  readonly #url: string;
  readonly key: string;

  constructor(url: string, key: string) {
    this.#url = url;
    this.key = key;
  }

  async fetch(path: string, init: RequestInit & { json?: unknown } = {}): Promise<Response> {
    const { json, ...rest } = init;
    const headers = new Headers(rest.headers);
    headers.set('authorization', `Bearer ${this.key}`);
    if (json !== undefined) headers.set('content-type', 'application/json');
    const body = json === undefined ? rest.body : JSON.stringify(json);
    return fetch(new URL(path, this.#url), { ...rest, headers, ...(body === undefined ? {} : { body }) });
  }

  /** Throws for any answer that is not 2xx, with the answer in the message. */
  async call<Answer>(method: string, path: string, json?: unknown): Promise<Answer> {
    const response = await this.fetch(path, { method, ...(json === undefined ? {} : { json }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path} answered ${response.status}: ${text}`);
    return text === '' ? (undefined as Answer) : JSON.parse(text);
  }

  async createJob(options: Record<string, unknown> = {}): Promise<string> {
    const body = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini', ...options };
    return (await this.call<JobAnswer>('POST', '/v1/batch-jobs', body)).job_id;
  }

  async append(jobId: string, items: { custom_id: string; request: unknown }[]): Promise<void> {
    await this.call('POST', `/v1/batch-jobs/${jobId}/items`, { items });
  }

  /** A submitted job of chat requests, one for each prompt; ids row_1, row_2, … */
  async submitPrompts(prompts: readonly string[], options: Record<string, unknown> = {}): Promise<string> {
    const jobId = await this.createJob(options);
    const item = (content: string, index: number) => ({
      custom_id: `row_${index + 1}`,
      request: { messages: [{ role: 'user', content }], max_tokens: 200 },
    });
    await this.append(jobId, prompts.map(item));
    await this.submit(jobId);
    return jobId;
  }

  async submit(jobId: string): Promise<JobAnswer> {
    return this.call('POST', `/v1/batch-jobs/${jobId}/submit`);
  }

  async job(jobId: string): Promise<JobAnswer> {
    return this.call('GET', `/v1/batch-jobs/${jobId}`);
  }

  async cancel(jobId: string, reason?: string): Promise<JobAnswer> {
    return this.call('POST', `/v1/batch-jobs/${jobId}/cancel`, reason === undefined ? {} : { reason });
  }

  /** The budget of a tenant that has one. */
  async budget(): Promise<BudgetAnswer> {
    const { data } = await this.call<{ data: BudgetAnswer[] }>('GET', '/v1/budgets');
    if (data[0] === undefined) throw new Error('the tenant has no budget');
    return data[0];
  }

  /** Ledger entries about the job as a whole, by event. */
  async ledger(jobId: string): Promise<Map<string, LedgerAnswer>> {
    const path = `/v1/batch-jobs/${jobId}/ledger?level=job&limit=100`;
    const { data } = await this.call<{ data: LedgerAnswer[] }>('GET', path);
    return new Map(data.map((entry) => [entry.event, entry]));
  }

  /** Waits for the end of a job. */
  async ended(jobId: string, timeoutMs = 30_000): Promise<JobAnswer> {
    let last: JobAnswer | undefined;
    const isOver = async () => {
      last = await this.job(jobId);
      return TERMINAL.includes(last.status) ? last : null;
    };
    try {
      return await eventually(isOver, { timeoutMs });
    } catch (error) {
      throw new Error(`${jobId} has not ended: ${JSON.stringify(last)}`, { cause: error });
    }
  }

  async results(jobId: string): Promise<ResultRow[]> {
    const response = await this.fetch(`/v1/batch-jobs/${jobId}/results`, {
      headers: { accept: 'application/x-ndjson' },
    });
    const text = await response.text();
    if (!response.ok) throw new Error(`results answered ${response.status}: ${text}`);
    return text
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line));
  }
}

export interface TestGateway extends TestEngine {
  readonly url: string;
  /** A tenant admin of a new tenant with a budget. */
  newTenant(options?: {
    limit?: string | null;
  }): Promise<{ tenantId: string; budgetId: string | null; caller: Caller }>;
  readonly operator: Caller;
  /** Throws when the job's money or counts do not add up, or when an item is in two provider batches. */
  expectSound(jobId: string): Promise<void>;
}

/** The whole gateway in this process, spoken to over HTTP. */
export async function startGateway(options: TestEngineOptions = {}): Promise<TestGateway> {
  const engine = await startEngine(options);
  const { db } = engine.database;
  const apiDb = scopedDatabase(db);
  const app = createApp({
    db: apiDb,
    catalogue: engine.catalogue,
    cipher: TEST_CIPHER,
    artifacts: options.artifacts ?? null,
    workflows: createJobWorkflows(engine.client),
    scheduleClock: createScheduleClock(engine.client),
    allowedFetchHosts: TEST_FETCH_HOSTS,
    providers: engine.providers,
    providerWebhooks: createWebhookVerifiers({
      signedLikeOpenAi: new Map([['openai', [TEST_WEBHOOK_SECRET]]]),
      gemini: { secrets: [TEST_WEBHOOK_SECRET], jwks: null, audience: null },
    }),
    intake: testIntake(),
    documents: testDocuments(),
    limits: testLimits(apiDb),
    logger: createLogger({ level: 'error', service: 'api' }),
    now: () => new Date(),
    temporalUi: null,
  });
  const { promise: listening, resolve } = Promise.withResolvers<AddressInfo>();
  const server = serve({ fetch: app.fetch, hostname: '127.0.0.1', port: 0 }, resolve);
  const url = `http://127.0.0.1:${(await listening).port}`;
  const operator = await createKey(db.pool, { role: 'operator', name: 'operator', tenantId: null });
  return {
    ...engine,
    url,
    operator: new Caller(url, operator.key),
    newTenant: async (budget) => {
      const tenant = await insertTenant(db, budget);
      const { key } = await createKey(db.pool, { role: 'tenant_admin', name: 'test', tenantId: tenant.tenantId });
      return { ...tenant, caller: new Caller(url, key) };
    },
    expectSound: async (jobId) => {
      const faults = await findFaults(db, engine.simulator, jobId);
      if (faults.length > 0) throw new Error(`${jobId}: ${faults.join('; ')}`);
    },
    stop: async () => {
      await new Promise((done) => server.close(done));
      await engine.stop();
    },
  };
}
