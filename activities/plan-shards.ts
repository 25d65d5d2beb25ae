import { findAccount } from '../db/capacity-accounts.ts';
import { getJobRow, type JobRow, lockJobRow } from '../db/job-rows.ts';
import { cutShard, insertShards, listShards, type PlannedShard, refreshJobState } from '../db/shards.ts';
import { findSubmission } from '../db/submissions.ts';
import { findTenant } from '../db/tenants.ts';
import { inTransaction } from '../db/transaction.ts';
import type { CapabilityRow } from '../domain/capability-row.ts';
import { namedLimits, type QueueLimits } from '../domain/capacity.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { formatTarget, type ModelTarget } from '../domain/model-alias.ts';
import { effectiveLimits } from '../domain/sharding.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { GATEWAY_CREDENTIAL } from './gateway-credential.ts';
import { beat } from './heartbeats.ts';
import type { JobActivities } from './interfaces.ts';

/** What encoding adds to a request: the provider-side id, method, url, model and punctuation. */
const ENVELOPE_BYTES = 300;

/**
 * Cuts the job into shards, one provider and model each, under the provider's limits on items, bytes, embedding
 * inputs and queued tokens, and smaller where the job or its tenant asks for it. Reads counts, never bodies. Idempotent: the first plan stands.
 */
export function createPlanShards({ db, catalogue, now, log }: ActivityDependencies): JobActivities['planShards'] {
  return async ({ jobId }) => {
    const job = await getJobRow(db.pool, jobId);
    const existing = await listShards(db.pool, job.key);
    if (existing.length > 0) return { shards: existing.length };
    const submission = await findSubmission(db.pool, job.key, job.submissionNo);
    if (submission?.quote == null) throw new Error(`submission ${job.submissionNo} of ${jobId} was not accepted`);
    const tenant = await findTenant(db.pool, job.tenantId);
    const asked = [job.maxItemsPerShard, tenant?.maxItemsPerShard ?? null];
    const shards: PlannedShard[] = [];
    for (const target of submission.quote.targets) {
      const capability = findCapability(catalogue, job, target);
      const limits = effectiveLimits(capability, { maxItems: asked, queue: await findQueueLimits(db, target, now()) });
      let fromItemNo = job.firstItemNo;
      for (;;) {
        beat();
        const cut = await cutShard(db.pool, job, {
          fromItemNo,
          requestedModel: target.requested_model,
          // Shards of a provider without labels tell themselves apart by their size.
          maxItems: limits.sizesDiffer ? Math.max(1, limits.maxItems - shards.length) : limits.maxItems,
          maxBytes: limits.maxBytes,
          maxEmbeddingInputs: limits.maxEmbeddingInputs,
          maxInputTokens: limits.maxInputTokens,
          extraBytesPerItem: ENVELOPE_BYTES + Buffer.byteLength(job.requestDefaults ?? ''),
        });
        if (cut === null) break;
        shards.push({
          ...cut,
          requestedModel: target.requested_model,
          provider: target.provider,
          providerModel: target.model,
        });
        fromItemNo = cut.lastItemNo + 1;
      }
    }
    const count = await inTransaction(db, (client) => storePlan(client, jobId, shards));
    log.info({ jobId, shards: count }, 'shards planned');
    return { shards: count };
  };
}

function findCapability(catalogue: Catalogue, { endpoint }: JobRow, { provider, model }: ModelTarget): CapabilityRow {
  const capability = catalogue.findCapability(provider, endpoint, model);
  if (capability === null) throw new Error(`no limits are known of ${formatTarget({ provider, model })}`);
  return capability;
}

/** What the provider has said lately that its queue takes of the model: a larger shard could only be refused. */
async function findQueueLimits(
  db: ActivityDependencies['db'],
  { provider, model }: ModelTarget,
  at: Date,
): Promise<QueueLimits> {
  const key = { credentialId: GATEWAY_CREDENTIAL, provider, providerModel: model };
  const account = await findAccount(db.pool, key);
  return namedLimits(account ?? UNHEARD_OF, at);
}

const UNHEARD_OF = { limits: { inputTokens: null, items: null }, lastRefusedAt: null };

async function storePlan(
  client: Parameters<typeof insertShards>[0],
  jobId: string,
  shards: readonly PlannedShard[],
): Promise<number> {
  const job: JobRow = await lockJobRow(client, jobId);
  const existing = await listShards(client, job.key);
  if (existing.length > 0) return existing.length;
  await insertShards(client, job.key, shards);
  await refreshJobState(client, job);
  return shards.length;
}
