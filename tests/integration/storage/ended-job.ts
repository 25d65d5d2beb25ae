import { createDatabaseActivities } from '../../../activities/create-activities.ts';
import type { ArtifactStore } from '../../../artifacts/store.ts';
import type { Database } from '../../../db/client.ts';
import { getJobRow } from '../../../db/job-rows.ts';
import { encodeProviderItemId } from '../../../domain/attempt-token.ts';
import type { StoragePolicy } from '../../../domain/tenant-policy.ts';
import { runActivity, testDependencies } from '../../harness/activities.ts';
import { type ReplyProvider, replyLine } from '../../harness/reply-provider.ts';
import { createTestShards, type TestShard } from '../../harness/shard-activities.ts';

export interface EndedJob {
  readonly jobId: string;
  readonly uuid: string;
  readonly tenantId: string;
  /** Of its one batch, which is also its file. */
  readonly batchId: string;
  readonly token: string;
}

export interface EndedJobOptions {
  readonly items?: number;
  /** Stands in every request and reply, and in whatever else the provider says. */
  readonly planted?: string;
  /** Item numbers that fail. */
  readonly failing?: readonly number[];
  readonly deletesProviderFiles?: boolean;
  readonly artifacts?: ArtifactStore;
  readonly retentionMs?: number | null;
  readonly customerId?: string;
}

/** A job under a storage policy, one shard, run to its end by the activities of a worker. */
export async function endJob(
  db: Database,
  provider: ReplyProvider,
  storage: StoragePolicy,
  options: EndedJobOptions = {},
): Promise<EndedJob> {
  const { shard, ...job } = await startJob(db, provider, storage, options);
  await shard.close('batch_completed');
  await reconcile(db, job.jobId);
  return job;
}

/** As `endJob`, up to where all results are read and the shard is still to be closed. */
export async function startJob(
  db: Database,
  provider: ReplyProvider,
  storage: StoragePolicy,
  { items = 3, planted = 'planted', failing = [], deletesProviderFiles = false, ...more }: EndedJobOptions = {},
): Promise<EndedJob & { readonly shard: TestShard }> {
  const { artifacts = null, retentionMs = null, customerId = null } = more;
  const shards = createTestShards(db, provider, { artifacts });
  const shard = await shards.newShard({
    items,
    body: (itemNo) => ({ messages: [{ role: 'user', content: `${planted} ${itemNo}` }], max_tokens: 100 }),
  });
  const { jobId } = shard.ref;
  const { key, tenantId } = await getJobRow(db.pool, jobId);
  await db.pool.query(
    `UPDATE batch_jobs SET storage = $2, request_defaults = $3, delete_provider_files = $4, content_retention_ms = $5,
       customer_id = $6 WHERE job_id = $1`,
    [key.uuid, storage, JSON.stringify({ user: planted }), deletesProviderFiles, retentionMs, customerId],
  );
  await shard.submit();
  const { providerBatchId: batchId, attemptToken: token } = await shard.attempt();
  if (batchId === null) throw new Error('the batch was not accepted');
  const numbers = Array.from({ length: items }, (_, index) => index + 1);
  provider.results.set(batchId, [
    ...numbers.map((itemNo) =>
      replyLine({
        id: encodeProviderItemId(token, itemNo),
        kind: failing.includes(itemNo) ? 'failed' : 'completed',
        says: `${planted} reply ${itemNo}`,
      }),
    ),
    replyLine({ id: `${planted} nobody`, kind: 'completed', says: planted }),
  ]);
  const validationErrors = [{ code: 'bad_line', message: planted, line: 1, param: planted }];
  provider.move(batchId, { phase: 'ended', end: 'completed', nativeStatus: 'completed', validationErrors });
  await shard.poll();
  await shard.ingest();
  return { jobId, uuid: key.uuid, tenantId, batchId, token, shard };
}

export async function reconcile(db: Database, jobId: string): Promise<void> {
  await runActivity(createDatabaseActivities(testDependencies(db)).reconcileJob, { jobId });
}
