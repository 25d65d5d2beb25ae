import { hash } from 'node:crypto';
import type pg from 'pg';
import { keepCustomerPricing } from '../db/customer-pricing.ts';
import { insertDocumentJob, type NewDocumentItem } from '../db/document-intake.ts';
import { toUuid } from '../db/ids.ts';
import { GroupTally } from '../db/intake/group-tally.ts';
import type { JobRow } from '../db/job-rows.ts';
import type { JobScope } from '../db/job-scope.ts';
import { loadTaskAdmission, type TaskAdmission } from '../db/task-admission.ts';
import { requireCapsOfFilledJob } from '../db/tenant-caps.ts';
import { judgeAdmission, type Verdict } from '../domain/admission.ts';
import { type AdmissionFacts, type ItemGroup, PRICE_OF_MODE } from '../domain/admission-facts.ts';
import { findBucket } from '../domain/bucket.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import type { DocumentColumn, RunMode } from '../domain/document.ts';
import { type CountedFile, featureGroup, itemMeasure, wishedFeatures } from '../domain/document-items.ts';
import { GatewayError } from '../domain/gateway-error.ts';
import type { ModelTarget } from '../domain/model-alias.ts';
import type { Endpoint } from '../domain/provider.ts';
import type { Quote } from '../domain/quote.ts';
import { type StorageTerms, storageTerms } from '../domain/storage-terms.ts';
import type { StoragePolicy } from '../domain/tenant-policy.ts';
import { lockBudgets, reserve } from './reserve.ts';

const ENDPOINT: Endpoint = 'chat.completions';

/** A document that is to be an item of the job. */
export interface FileToAdmit extends CountedFile {
  readonly documentId: string;
  readonly sha256: Buffer;
  readonly storage: StoragePolicy;
}

/** A run, or the repairs of one, with its documents in the order of its items. */
export interface DocumentsToAdmit {
  readonly runId: string;
  readonly owner: JobScope;
  readonly apiKeyId: string;
  readonly mode: RunMode;
  readonly model: string;
  readonly columns: readonly DocumentColumn[];
  /** At least one. */
  readonly files: readonly FileToAdmit[];
  readonly createdAt: Date;
}

interface Accepted {
  readonly quote: Quote;
  readonly target: ModelTarget;
  readonly verdict: Verdict;
}

/**
 * Judges a run, writes the rows of its job and holds its money in the caller's transaction, which it throws out of with nothing
 * changed: `model_unknown`, `model_not_allowed`, `price_unknown`, `budget_exceeded`, `tenant_suspended`, `quota_exceeded`, ….
 * Money is held by what was counted of the documents at their upload; their requests are made later.
 */
export async function admitDocuments(
  client: pg.PoolClient,
  base: Catalogue,
  wanted: DocumentsToAdmit,
): Promise<JobRow> {
  const { owner, apiKeyId, createdAt, files } = wanted;
  const admission = await loadTaskAdmission(client, { owner, apiKeyId, endpoint: ENDPOINT }, base);
  const { facts, items, accepted } = judge(wanted, admission);
  const { quote, target, verdict } = accepted;
  const job = jobOf(wanted, facts, admission, accepted);
  await insertDocumentJob(client, { job, createdAt, items, groups: facts.groups, quote, verdict });
  if (owner.customerId !== null) await keepCustomerPricing(client, job, { quote, targets: verdict.targets }, createdAt);
  const budgets = await lockBudgets(client, job, createdAt);
  const { target: last } = requireAccepted(judgeAdmission({ ...facts, budgets }));
  if (last.model !== target.model || files.length !== items.length) throw new Error('a verdict changed by its budgets');
  await reserve(client, job, quote, budgets);
  await requireCapsOfFilledJob(client, owner.tenantId, job.key.uuid);
  return job;
}

interface Judged {
  readonly facts: AdmissionFacts;
  readonly items: readonly NewDocumentItem[];
  readonly accepted: Accepted;
}

/** A target may take more than another of the same name, and counts otherwise: judged until the choice stays. */
const MAX_TURNS = 5;

function judge(wanted: DocumentsToAdmit, admission: TaskAdmission): Judged {
  const facts = factsOf(wanted, admission);
  const wished = featureGroup(wishedFeatures(wanted.files), wanted.files.length);
  const best = judgeAdmission({ ...facts, groups: [wished] });
  let accepted = requireAccepted(best.target === null ? judgeAdmission(facts) : best);
  for (let turn = 1; ; turn += 1) {
    const items = measure(wanted, facts, accepted);
    const withItems = { ...facts, groups: groupsOf(items) };
    const next = requireAccepted(judgeAdmission(withItems));
    if (isSame(next.target, accepted.target) || turn === MAX_TURNS) return { facts: withItems, items, accepted: next };
    accepted = next;
  }
}

function isSame(one: ModelTarget, other: ModelTarget): boolean {
  return one.provider === other.provider && one.model === other.model;
}

function factsOf({ runId, mode, model, createdAt }: DocumentsToAdmit, admission: TaskAdmission): AdmissionFacts {
  return {
    ...admission.facts,
    mode,
    jobId: runId,
    region: null,
    providers: null,
    endpoint: ENDPOINT,
    requestedModel: model,
    groups: [],
    calibration: null,
    maxCost: null,
    budgets: [],
    at: createdAt,
  };
}

function measure(
  { columns, files }: DocumentsToAdmit,
  { catalogue }: AdmissionFacts,
  { target, verdict }: Accepted,
): NewDocumentItem[] {
  const profile = catalogue.findProfile(target.provider);
  const [chosen] = verdict.targets;
  if (profile === null || chosen === undefined) throw new Error('a target was chosen of a provider that nobody knows');
  const { capability, price } = chosen;
  const { dialect } = profile;
  const measureItem = itemMeasure({ capability, dialect, columns, maxOutputTokens: price.maxOutputTokens });
  const asked = JSON.stringify(columns);
  return files.map((file) => {
    const { features, inputTokens, outputTokens, bodyBytes } = measureItem(file);
    const requestHash = hash('sha256', `${file.sha256.toString('hex')} ${asked}`);
    return { customId: file.documentId, requestHash, features, inputTokens, outputTokens, bodyBytes };
  });
}

function groupsOf(items: readonly NewDocumentItem[]): ItemGroup[] {
  const tally = new GroupTally();
  for (const { features, inputTokens, outputTokens, bodyBytes } of items)
    tally.add({ requestedModel: null, features, inputTokens, maxOutputTokens: outputTokens, choices: 1, bodyBytes });
  return tally.groups();
}

/** Throws the first thing that stands in the way. */
function requireAccepted(verdict: Verdict): Accepted {
  const { quote, target } = verdict;
  const [finding] = verdict.findings;
  if (finding !== undefined) {
    const field = finding.error === 'budget_exceeded' ? {} : { field: 'model' };
    // The words are those of jobs of any kind.
    throw new GatewayError(finding.error, finding.message.replace(/^The job /, 'The run '), field);
  }
  if (quote === null || target === null) throw new Error('a verdict without findings has a quote');
  return { quote, target, verdict };
}

/** As its rows will be, so that none has to be read again. */
function jobOf(
  { runId, owner, apiKeyId, createdAt, files }: DocumentsToAdmit,
  facts: AdmissionFacts,
  { policy, overagePolicy }: TaskAdmission,
  { quote, target }: Accepted,
): JobRow {
  const uuid = toUuid('documentRun', runId);
  const bucket = findBucket(runId);
  if (uuid === null || bucket === null) throw new Error('a new id cannot be read');
  return {
    ...owner,
    key: { kind: 'document', uuid, bucket },
    kind: 'document',
    jobId: runId,
    apiKeyId,
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
    itemCount: files.length,
    reservedAmount: quote.reserved,
    overagePolicy,
    cancelRequestedAt: null,
    submittedAt: createdAt,
    submittedBy: apiKeyId,
    // A document was promised at its upload what is kept of it.
    terms: termsOf(policy, files),
  };
}

function termsOf(policy: StorageTerms, files: readonly FileToAdmit[]): StorageTerms {
  const terms = storageTerms(policy, null);
  const storages = new Set(files.map(({ storage }) => storage));
  return [...storages].reduce((strict, storage) => storageTerms(strict, storage), terms);
}
