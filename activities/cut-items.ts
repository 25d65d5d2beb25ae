import type pg from 'pg';
import { findAccount } from '../db/capacity-accounts.ts';
import type { JobRow } from '../db/job-rows.ts';
import { chooseCredential } from '../db/provider-credentials.ts';
import { cutShard, type PlannedShard } from '../db/shards.ts';
import { findSubmission } from '../db/submissions.ts';
import { findTenant } from '../db/tenants.ts';
import type { CapabilityRow } from '../domain/capability-row.ts';
import { namedLimits, type QueueLimits } from '../domain/capacity.ts';
import type { Catalogue } from '../domain/catalogue.ts';
import { formatTarget, type ModelTarget } from '../domain/model-alias.ts';
import { effectiveLimits } from '../domain/sharding.ts';
import type { ActivityDependencies } from './dependencies.ts';
import { beat } from './heartbeats.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** What encoding adds to a request: the provider-side id, method, url, model and punctuation. */
const ENVELOPE_BYTES = 300;

/** Which items of a job are cut, both ends included, and how many shards it has already. */
export interface CutItems {
  readonly firstItemNo: number;
  readonly lastItemNo: number;
  readonly shardsBefore: number;
}

/**
 * Cuts items of an accepted job into shards, one provider and model each, under the provider's limits on items, bytes,
 * embedding inputs and queued tokens, and smaller where the job or its tenant asks for it. Reads counts, never bodies.
 */
export async function cutItems(
  db: Queryable,
  { catalogue, now }: Pick<ActivityDependencies, 'catalogue' | 'now'>,
  job: JobRow,
  { firstItemNo, lastItemNo, shardsBefore }: CutItems,
): Promise<PlannedShard[]> {
  const submission = await findSubmission(db, job.key, job.submissionNo);
  if (submission?.quote == null) throw new Error(`submission ${job.submissionNo} of ${job.jobId} was not accepted`);
  const tenant = await findTenant(db, job.tenantId);
  const asked = [job.maxItemsPerShard, tenant?.maxItemsPerShard ?? null];
  const shards: PlannedShard[] = [];
  for (const target of submission.quote.targets) {
    const capability = findCapability(catalogue, job, target);
    const limits = effectiveLimits(capability, {
      maxItems: asked,
      queue: await findQueueLimits(db, job, target, now()),
    });
    let fromItemNo = firstItemNo;
    for (;;) {
      beat();
      const before = shardsBefore + shards.length;
      const cut = await cutShard(db, job, {
        fromItemNo,
        throughItemNo: lastItemNo,
        requestedModel: target.requested_model,
        // Shards of a provider without labels tell themselves apart by their size.
        maxItems: limits.sizesDiffer ? Math.max(1, limits.maxItems - before) : limits.maxItems,
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
  return shards;
}

function findCapability(catalogue: Catalogue, { endpoint }: JobRow, { provider, model }: ModelTarget): CapabilityRow {
  const capability = catalogue.findCapability(provider, endpoint, model);
  if (capability === null) throw new Error(`no limits are known of ${formatTarget({ provider, model })}`);
  return capability;
}

/** What the provider has said lately that its queue takes of the model: a larger shard could only be refused. */
async function findQueueLimits(
  db: Queryable,
  job: JobRow,
  { provider, model }: ModelTarget,
  at: Date,
): Promise<QueueLimits> {
  const credentialId = await chooseCredential(db, job, provider);
  const account = await findAccount(db, { credentialId, provider, providerModel: model });
  return namedLimits(account ?? UNHEARD_OF, at);
}

const UNHEARD_OF = { limits: { inputTokens: null, items: null }, lastRefusedAt: null };
