import { hash } from 'node:crypto';
import type pg from 'pg';
import { type CreateTask, presentTask, taskRequest } from '../../contracts/task.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { keepCustomerPricing } from '../../db/customer-pricing.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId, toUuid } from '../../db/ids.ts';
import { GroupTally } from '../../db/intake/group-tally.ts';
import type { JobRow } from '../../db/job-rows.ts';
import type { JobScope } from '../../db/job-scope.ts';
import { loadTaskAdmission, type TaskAdmission } from '../../db/task-admission.ts';
import { insertTaskRows } from '../../db/task-intake.ts';
import { takeSlot } from '../../db/task-rows.ts';
import { requireCaps } from '../../db/tenant-caps.ts';
import { inTransaction } from '../../db/transaction.ts';
import { insertJobWebhook } from '../../db/webhook-secrets.ts';
import { suspensionMessage } from '../../domain/account-suspension.ts';
import { judgeAdmission, type Verdict } from '../../domain/admission.ts';
import { type AdmissionFacts, type ItemGroup, PRICE_OF_MODE } from '../../domain/admission-facts.ts';
import { findBucket } from '../../domain/bucket.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { formatTarget, type ModelTarget } from '../../domain/model-alias.ts';
import type { Principal } from '../../domain/principal.ts';
import type { Endpoint } from '../../domain/provider.ts';
import type { Quote } from '../../domain/quote.ts';
import { inspectRequest } from '../../domain/request-inspection.ts';
import { keepsContent } from '../../domain/storage-terms.ts';
import { clampPriority, POLLABLE_MS } from '../../domain/task.ts';
import { findTaskModel } from '../../domain/task-model.ts';
import { NO_GROWTH } from '../../domain/tenant-caps.ts';
import { requireSealing } from '../../encryption/create-cipher.ts';
import { lockBudgets, reserve } from '../../ledger/reserve.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { once } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { requirePublicUrl } from './public-url.ts';

const ENDPOINT: Endpoint = 'chat.completions';
const RETRY_AFTER_SECONDS = 2;

export interface CreateTaskRequest {
  readonly principal: Principal;
  readonly task: CreateTask;
  readonly idempotency: IdempotentRequest | null;
}

/** The task as it was made, as JSON text, and whether an earlier call made it. */
export interface MadeTask {
  readonly body: string;
  readonly taskId: string;
  readonly replayed: boolean;
}

/** What is kept of an answer for its repetition: no content, which the repetition brings along. */
interface KeptTask {
  readonly taskId: string;
  readonly createdAt: string;
  readonly target: ModelTarget;
}

interface Item {
  readonly body: string;
  readonly bodyBytes: number;
  readonly requestHash: string;
  readonly group: ItemGroup;
}

/**
 * Judges a task, holds its money and stores it in one transaction, then starts its workflow; where Temporal is away the sweep
 * does that later. All that is known to be impossible is refused here, and nothing of it stored: `model_unknown`,
 * `model_not_allowed`, `price_unknown`, `budget_exceeded`, `tenant_suspended`, …; `concurrency_limit` beyond the tenant's plan,
 * `rate_limited` beyond what this process starts at once.
 */
export async function createTask(
  dependencies: Pick<
    ApiDependencies,
    'db' | 'now' | 'catalogue' | 'cipher' | 'allowedFetchHosts' | 'limits' | 'workflows'
  >,
  { principal, task, idempotency }: CreateTaskRequest,
): Promise<MadeTask> {
  const { db, limits, workflows, allowedFetchHosts } = dependencies;
  if (task.webhookUrl !== undefined) await requirePublicUrl(task.webhookUrl, 'webhookUrl', allowedFetchHosts);
  const owner = tenantScope(principal);
  const item = measure(task);
  const giveBack = await limits.taskStarts.take();
  try {
    const store = (client: pg.PoolClient) =>
      once(client, idempotency, async () => {
        const made = await storeTask(dependencies, client, { owner, keyId: principal.keyId, task, item });
        const kept: KeptTask = { ...made, createdAt: made.createdAt.toISOString() };
        return { status: 202, body: JSON.stringify(kept) };
      });
    const answer = await inTransaction(db, store, { isPrepared: true });
    const kept: KeptTask = JSON.parse(answer.body);
    const { taskId, target } = kept;
    if (answer.replayed) giveBack();
    else void workflows.startTask(startable(taskId, owner, target)).finally(giveBack);
    return { body: present(task, item, kept), taskId, replayed: answer.replayed };
  } catch (error) {
    giveBack();
    throw error;
  }
}

function startable(taskId: string, { tenantId, customerId }: JobScope, { provider, model }: ModelTarget) {
  return { taskId, tenantId, customerId, provider, providerModel: model };
}

/** Its tokens by the cautious count that items have from their append: one prompt is not worth a tokenizer's memory and time. */
function measure({ payload }: CreateTask): Item {
  const request = taskRequest(payload);
  const body = JSON.stringify(request);
  const bodyBytes = Buffer.byteLength(body);
  const { features, inputTokens, maxOutputTokens, choices, model, problems } = inspectRequest(ENDPOINT, request);
  if (problems.length > 0) throw new Error('the request of a task has not the shape of its endpoint');
  const tally = new GroupTally();
  tally.add({ requestedModel: model, features, inputTokens, maxOutputTokens, choices, bodyBytes });
  const [group] = tally.groups();
  if (group === undefined) throw new Error('an item is of no kind');
  return { body, bodyBytes, requestHash: hash('sha256', body), group };
}

interface TaskToStore {
  readonly owner: JobScope;
  readonly keyId: string;
  readonly task: CreateTask;
  readonly item: Item;
}

/**
 * Rows first, which nobody else can see or wait for; then budgets, the slot and the caps, which tasks of one tenant take in turn,
 * so that their locks are held for as short as can be.
 */
async function storeTask(
  { now, catalogue, cipher }: Pick<ApiDependencies, 'now' | 'catalogue' | 'cipher'>,
  client: pg.PoolClient,
  { owner, keyId, task, item }: TaskToStore,
): Promise<{ readonly taskId: string; readonly createdAt: Date; readonly target: ModelTarget }> {
  const createdAt = now();
  const taskId = newId('task');
  const admission = await loadTaskAdmission(client, { owner, apiKeyId: keyId, endpoint: ENDPOINT }, catalogue);
  const { policy } = admission;
  if (admission.facts.accountSuspension !== null)
    throw new GatewayError('tenant_suspended', suspensionMessage(admission.facts.accountSuspension));
  // Its reply is to be sealed: without a key that is known to be impossible.
  if (!keepsContent(policy.storage)) requireSealing(cipher);
  if (admission.openTasks >= policy.taskConcurrency) throw tooManyTasks(policy.taskConcurrency);
  const facts = factsOf(task, item.group, { taskId, createdAt, admission });
  const { quote, target, verdict } = requireAccepted(judgeAdmission(facts), task);
  const job = jobOf({ owner, keyId, taskId, createdAt }, facts, admission, { quote, target });
  const { overagePolicy } = admission;
  const { taskType } = task;
  const priority = clampPriority(task.priority);
  await insertTaskRows(client, { job, taskType, priority, createdAt, overagePolicy, item, target, quote, verdict });
  if (owner.customerId !== null) {
    await keepCustomerPricing(client, job, { quote, targets: verdict.targets }, createdAt);
  }
  if (task.webhookUrl !== undefined) {
    const webhook = { url: task.webhookUrl, eventTypes: null };
    if (!(await insertJobWebhook(client, { jobId: taskId, apiKeyId: keyId, createdAt }, webhook)))
      throw noWebhookSecret();
  }
  await recordAudit(client, { act: 'task.created', actor: keyId, tenantId: owner.tenantId, subject: taskId });
  const budgets = await lockBudgets(client, job, createdAt);
  requireAccepted(judgeAdmission({ ...facts, budgets }), task);
  await reserve(client, job, quote, budgets);
  if (!(await takeSlot(client, owner.tenantId, policy.taskConcurrency))) throw tooManyTasks(policy.taskConcurrency);
  await requireCaps(client, owner.tenantId, { ...NO_GROWTH, openItems: 1, storedBytes: item.bodyBytes });
  return { taskId, createdAt, target };
}

function factsOf(
  { taskType, payload }: CreateTask,
  group: ItemGroup,
  {
    taskId,
    createdAt,
    admission,
  }: { readonly taskId: string; readonly createdAt: Date; readonly admission: TaskAdmission },
): AdmissionFacts {
  const { name, provider, aliases } = findTaskModel(
    { taskType, model: payload.model },
    { ...admission.facts, jobId: taskId },
  );
  return {
    ...admission.facts,
    mode: 'direct',
    jobId: taskId,
    aliases,
    region: null,
    providers: [provider],
    endpoint: ENDPOINT,
    requestedModel: name,
    groups: [group],
    calibration: null,
    maxCost: null,
    budgets: [],
    at: createdAt,
  };
}

interface Accepted {
  readonly quote: Quote;
  readonly target: ModelTarget;
  readonly verdict: Verdict;
}

/** Throws the first thing that stands in the way. */
function requireAccepted(verdict: Verdict, { payload }: CreateTask): Accepted {
  const { quote, target } = verdict;
  const [finding] = verdict.findings;
  if (finding !== undefined) {
    const field = finding.error === 'budget_exceeded' ? {} : { field: 'payload.model' };
    // The words are those of jobs of any kind.
    throw new GatewayError(finding.error, finding.message.replace(/^The job /, 'The task '), field);
  }
  if (quote === null || target === null) throw new Error('a verdict without findings has a quote');
  const most = Math.min(...verdict.targets.map(({ price }) => price.maxOutputTokens));
  if (payload.maxTokens !== undefined && payload.maxTokens > most) {
    const message = `payload.maxTokens: ${formatTarget(target)} writes ${most} tokens at most. Lower it, or leave it out.`;
    throw new GatewayError('invalid_request', message, { field: 'payload.maxTokens' });
  }
  return { quote, target, verdict };
}

/** As its rows will be, so that none has to be read again. */
function jobOf(
  { owner, keyId, taskId, createdAt }: { owner: JobScope; keyId: string; taskId: string; createdAt: Date },
  facts: AdmissionFacts,
  { policy, overagePolicy }: TaskAdmission,
  { quote, target }: Pick<Accepted, 'quote' | 'target'>,
): JobRow {
  const uuid = toUuid('task', taskId);
  const bucket = findBucket(taskId);
  if (uuid === null || bucket === null) throw new Error('a new id cannot be read');
  return {
    ...owner,
    key: { kind: 'task', uuid, bucket },
    kind: 'task',
    jobId: taskId,
    apiKeyId: keyId,
    endpoint: ENDPOINT,
    requestedModel: facts.requestedModel,
    resolvedProvider: target.provider,
    resolvedProviderModel: target.model,
    state: 'queued',
    requestDefaults: null,
    maxItemsPerShard: null,
    region: null,
    providers: null,
    retryPolicy: null,
    deadline: null,
    notBefore: null,
    maxCost: null,
    currency: facts.currency,
    priceMode: PRICE_OF_MODE[facts.mode],
    submissionNo: 1,
    admittedAt: createdAt,
    manifestNo: 1,
    firstItemNo: 1,
    itemCount: 1,
    reservedAmount: quote.reserved,
    overagePolicy,
    cancelRequestedAt: null,
    submittedAt: createdAt,
    submittedBy: keyId,
    terms: {
      storage: policy.storage,
      // A task can be polled for so long, whatever the policy says of what follows.
      readWindowMs: Math.max(policy.readWindowMs, POLLABLE_MS),
      contentRetentionMs: policy.contentRetentionMs === null ? null : Math.max(policy.contentRetentionMs, POLLABLE_MS),
      deletesProviderFiles: policy.deletesProviderFiles,
    },
  };
}

function present({ taskType, priority }: CreateTask, { body }: Item, { taskId, createdAt }: KeptTask): string {
  return JSON.stringify(
    presentTask({
      taskId,
      taskType,
      priority: clampPriority(priority),
      state: 'QUEUED',
      attempts: 0,
      createdAt: new Date(createdAt),
      startedAt: null,
      completedAt: null,
      request: body,
      result: null,
      usage: null,
      error: null,
      gone: null,
    }),
  );
}

function tooManyTasks(limit: number): GatewayError {
  const message =
    `This account may have ${limit} tasks queued and in progress together, and has as many. Nothing was stored; send it again ` +
    'once one has ended.';
  return new GatewayError('concurrency_limit', message, { retryAfterSeconds: RETRY_AFTER_SECONDS });
}

function noWebhookSecret(): GatewayError {
  const message =
    'There is no secret yet to sign the webhooks of tasks with. Make it with POST /v1/webhooks/job-secret/rotate.';
  return new GatewayError('webhook_secret_missing', message, { field: 'webhookUrl' });
}
