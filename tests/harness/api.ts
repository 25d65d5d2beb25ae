import { createJobActivities } from '../../activities/job.ts';
import { createApp } from '../../api/app.ts';
import type { ApiDependencies } from '../../api/dependencies.ts';
import type { ApiApp } from '../../api/env.ts';
import type { JobWorkflows } from '../../api/job-workflows.ts';
import { createKey } from '../../db/api-keys.ts';
import type { Database } from '../../db/client.ts';
import type { Role } from '../../domain/principal.ts';
import { createLogger } from '../../telemetry/logger.ts';
import { TEST_CIPHER, testDependencies } from './activities.ts';
import { requireDeclaredStatus } from './declared-statuses.ts';
import { FakeScheduleClock } from './fake-schedule-clock.ts';
import { insertTenant } from './jobs.ts';
import { scopedDatabase } from './postgres.ts';
import { testLimits } from './request-limits.ts';
import { TEST_FETCH_HOSTS, testDocuments, testIntake } from './test-intake.ts';

/** The workflows of a gateway without Temporal: a submit is judged at once, by the same activity a workflow calls. */
export class FakeJobWorkflows implements JobWorkflows {
  /** What was asked of it, in order. */
  readonly calls: unknown[][] = [];
  readonly #db: Database;
  submit: JobWorkflows['submit'] = async ({ jobId, submissionNo }, waitMs) => {
    this.calls.push(['submit', jobId, submissionNo, waitMs]);
    const { admitJob } = createJobActivities(testDependencies(this.#db));
    return { kind: 'verdict', verdict: (await admitJob({ jobId, submissionNo })).verdict };
  };
  signalCancel: JobWorkflows['signalCancel'] = async (jobId, request) => {
    this.calls.push(['cancel', jobId, request]);
    return 'signalled';
  };
  pollNow: JobWorkflows['pollNow'] = async (jobId, shards) => {
    this.calls.push(['pollNow', jobId, shards]);
    return 'signalled';
  };
  pollShard: JobWorkflows['pollShard'] = async (jobId, shard) => {
    this.calls.push(['pollShard', jobId, shard]);
    return 'signalled';
  };
  rowsChanged: JobWorkflows['rowsChanged'] = async (jobId, shards) => {
    this.calls.push(['rowsChanged', jobId, shards]);
    return 'signalled';
  };
  startShard: JobWorkflows['startShard'] = async ({ jobId, shard }) => {
    this.calls.push(['startShard', jobId, shard]);
    return 'signalled';
  };
  startTask: JobWorkflows['startTask'] = async (task) => {
    this.calls.push(['startTask', task.taskId, task.provider, task.providerModel]);
    return 'signalled';
  };
  taskChanged: JobWorkflows['taskChanged'] = async (taskId) => {
    this.calls.push(['taskChanged', taskId]);
    return 'signalled';
  };
  startRun: JobWorkflows['startRun'] = async ({ runId, mode, documents }) => {
    this.calls.push(['startRun', runId, mode, documents]);
    return 'signalled';
  };
  runChanged: JobWorkflows['runChanged'] = async (runId) => {
    this.calls.push(['runChanged', runId]);
    return 'signalled';
  };
  queryState: JobWorkflows['queryState'] = async () => null;
  runRetention: JobWorkflows['runRetention'] = async () => {
    this.calls.push(['runRetention']);
    return 'signalled';
  };
  isReachable: JobWorkflows['isReachable'] = async () => true;

  constructor(db: Database) {
    this.#db = db;
  }
}

export interface Answer {
  readonly status: number;
  readonly headers: Headers;
  readonly text: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads whatever an answer holds
  readonly json: any;
}

export interface CallOptions {
  readonly json?: unknown;
  readonly body?: string | Uint8Array;
  readonly headers?: Record<string, string>;
}

/** One key, and calls made with it. */
export class ApiCaller {
  readonly key: string;
  readonly #app: ApiApp;

  constructor(app: ApiApp, key: string) {
    this.#app = app;
    this.key = key;
  }

  async call(method: string, path: string, { json, body, headers }: CallOptions = {}): Promise<Answer> {
    const response = await this.#app.request(path, {
      method,
      headers: {
        authorization: `Bearer ${this.key}`,
        ...(json !== undefined && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(json !== undefined && { body: JSON.stringify(json) }),
      ...(body !== undefined && { body: body as string }),
    });
    requireDeclaredStatus(this.#app, method, path, response.status);
    const text = await response.text();
    const isJson = response.headers.get('content-type')?.startsWith('application/json') === true;
    return { status: response.status, headers: response.headers, text, json: isJson ? JSON.parse(text) : undefined };
  }

  get(path: string, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call('GET', path, { headers });
  }

  post(path: string, json?: unknown, headers: Record<string, string> = {}): Promise<Answer> {
    return this.call('POST', path, { headers, ...(json !== undefined && { json }) });
  }

  /** The id of a new draft with so many items, `row_1` and on. */
  async draft(items: number, options: Record<string, unknown> = {}): Promise<string> {
    const created = await this.post('/v1/batch-jobs', {
      endpoint: 'chat.completions',
      model: 'openai/gpt-4o-mini',
      ...options,
    });
    if (created.status !== 201) throw new Error(`create_job answered ${created.status}: ${created.text}`);
    const jobId: string = created.json.job_id;
    const lines = Array.from({ length: items }, (_, index) => chatItem(`row_${index + 1}`));
    if (items > 0) await this.post(`/v1/batch-jobs/${jobId}/items`, { items: lines });
    return jobId;
  }

  /** The id of a job that was submitted and accepted. */
  async submitted(items: number, options: Record<string, unknown> = {}): Promise<string> {
    const jobId = await this.draft(items, options);
    const answer = await this.post(`/v1/batch-jobs/${jobId}/submit`);
    if (answer.status !== 202) throw new Error(`submit answered ${answer.status}: ${answer.text}`);
    return jobId;
  }
}

export function chatItem(customId: string, request: Record<string, unknown> = {}) {
  return {
    custom_id: customId,
    request: { messages: [{ role: 'user', content: 'hello' }], max_tokens: 20, ...request },
  };
}

export interface TestApi {
  readonly app: ApiApp;
  readonly workflows: FakeJobWorkflows;
  readonly scheduleClock: FakeScheduleClock;
  /** A key of a role; of a new tenant with a budget where none is named. */
  caller(role?: Role, of?: { tenantId?: string; projectId?: string; customerId?: string }): Promise<ApiCaller>;
  /** A tenant with a budget (1000 USD, or the limit given; null is none). */
  tenant(limit?: string | null): Promise<string>;
}

/** The api over a test's database, bound by row-level security, without a socket. */
export function createTestApi(
  db: Database,
  {
    providerWebhooks = new Map(),
    logger = createLogger({ level: 'silent', service: 'api' }),
    providers = testDependencies(db).providers,
    now = () => new Date(),
    cipher = TEST_CIPHER,
    artifacts = null,
    limits = testLimits(scopedDatabase(db)),
    wrap = (dependencies) => dependencies,
  }: Partial<
    Pick<ApiDependencies, 'limits' | 'providers' | 'now' | 'providerWebhooks' | 'logger' | 'cipher' | 'artifacts'>
  > & {
    /** What the app is given instead. */
    readonly wrap?: (dependencies: ApiDependencies) => ApiDependencies;
  } = {},
): TestApi {
  const workflows = new FakeJobWorkflows(db);
  const scheduleClock = new FakeScheduleClock();
  const app = createApp(
    wrap({
      db: scopedDatabase(db),
      catalogue: testDependencies(db).catalogue,
      cipher,
      artifacts,
      workflows,
      providers,
      providerWebhooks,
      scheduleClock,
      allowedFetchHosts: TEST_FETCH_HOSTS,
      intake: testIntake(),
      documents: testDocuments(),
      limits,
      logger,
      now,
      temporalUi: { url: 'http://127.0.0.1:8233', namespace: 'default' },
    }),
  );
  const tenant = async (limit: string | null = '1000') => (await insertTenant(db, { limit })).tenantId;
  return {
    app,
    workflows,
    scheduleClock,
    tenant,
    caller: async (role = 'tenant_admin', { tenantId, projectId, customerId } = {}) => {
      const isGateway = role === 'operator' || role === 'gateway_admin';
      const { key } = await createKey(db.pool, {
        role,
        name: 'test',
        tenantId: isGateway ? null : (tenantId ?? (await tenant())),
        ...(projectId !== undefined && { projectId }),
        ...(customerId !== undefined && { customerId }),
      });
      return new ApiCaller(app, key);
    },
  };
}
