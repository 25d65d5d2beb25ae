import type pg from 'pg';
import type { ItemGroup } from '../domain/admission-facts.ts';
import { type ErrorDetail, GatewayError, MAX_ERROR_DETAILS } from '../domain/gateway-error.ts';
import { type Growth, NO_GROWTH } from '../domain/tenant-caps.ts';
import { requireActiveAccount } from './account-standing.ts';
import type { Database } from './client.ts';
import { codeOf, SQLSTATE } from './errors.ts';
import { hasStoredKeys, type LockedDraft, lockIntakeJob, updateItemCounters } from './intake-job.ts';
import { copySpooledItems, type SkippedRows } from './item-copy.ts';
import { addItemGroups, countItemModels } from './item-groups.ts';
import type { SpooledItems } from './item-spool.ts';
import {
  type Clashes,
  findConflictsWithStored,
  findRepeatsWithin,
  findStoredTwins,
  groupNewItems,
  matchStoredItems,
  stageItems,
} from './item-stage.ts';
import type { JobScope } from './job-scope.ts';
import { hasRoom, type Room, readRoom, requireCaps, requireRoom } from './tenant-caps.ts';
import { inTransaction } from './transaction.ts';

/** The most items a job may hold, and the most models they may name. */
interface ItemLimits {
  readonly maxItemsPerJob: number;
  readonly maxModelsPerJob: number;
}

export interface ItemIntake {
  readonly scope: JobScope | null;
  readonly jobId: string;
  readonly spool: SpooledItems;
  /** `replace` makes a new generation of the manifest, to which the job turns in one update. */
  readonly mode: 'append' | 'replace';
  readonly limits: ItemLimits;
  readonly lockTimeoutMs: number;
  /** Wraps the whole effect inside its transaction: for what must be true exactly when the items are stored. */
  readonly within?: (client: pg.PoolClient, effect: () => Promise<StoredItems>) => Promise<StoredItems>;
}

export interface StoredItems {
  /** Items this call added. */
  readonly accepted: number;
  /** Items that were there already with the same id, key and content. */
  readonly duplicates: number;
  /** Items the job holds now. */
  readonly total: number;
}

type Mood = 'hopeful' | 'careful';

/** Five million items of a few kilobytes take minutes. */
const COPY_TIMEOUT_MS = 60 * 60_000;
const LAST_ITEM_NO = 2 ** 31 - 1;

/**
 * Stores spooled items in one transaction under the job's lock: all of them, or none. It copies in the hope that every
 * item is new. A unique index says otherwise at full speed and aborts everything; then, and where own idempotency keys
 * are in play (an index cannot compare a key with another item's custom id), the same is done with care: the rows are
 * staged in a temporary table first, repeats are found set-wise, and what is left is copied. Throws `not_found`,
 * `job_not_draft`, `conflict` for a retry, `job_busy`, `job_too_large`, `quota_exceeded`, `duplicate_custom_id` (within the call), `item_conflict` (with a stored
 * item of other content).
 */
export async function appendSpooledItems(db: Database, intake: ItemIntake): Promise<StoredItems> {
  const run = (mood: Mood) => (client: pg.PoolClient) => {
    const effect = () => storeItems(client, intake, mood);
    return intake.within === undefined ? effect() : intake.within(client, effect);
  };
  const options = { lockTimeoutMs: intake.lockTimeoutMs, statementTimeoutMs: COPY_TIMEOUT_MS };
  try {
    return await inTransaction(db, run('hopeful'), options);
  } catch (error) {
    if (!isItemRepeated(error)) throw error;
    return await inTransaction(db, run('careful'), options);
  }
}

function isItemRepeated(error: unknown): boolean {
  const table = error instanceof Error && 'table' in error ? error.table : undefined;
  return codeOf(error) === SQLSTATE.uniqueViolation && typeof table === 'string' && table.startsWith('batch_items_');
}

async function storeItems(client: pg.PoolClient, intake: ItemIntake, mood: Mood): Promise<StoredItems> {
  const job = await lockIntakeJob(client, intake.scope, intake.jobId);
  if (job === null) throw new GatewayError('not_found', 'No such job.');
  if (job.state !== 'draft') {
    throw new GatewayError('job_not_draft', `The job is ${job.state}; items can be changed only while it is a draft.`);
  }
  await requireActiveAccount(client, job);
  if (job.isRetry) {
    throw new GatewayError('conflict', 'The items of a retry are those it was made of. Use another job for others.');
  }
  const room = await readRoom(client, job.tenantId);
  const news = await chooseNewItems(client, intake, job, { mood, room });
  const growth = growthOf(intake, job, news);
  // Before anything is copied; the exact word comes last.
  requireRoom(room, growth);
  const stored = await storeNewItems(client, intake, job, news);
  await requireCaps(client, job.tenantId, growth);
  return stored;
}

/** What of the spool is stored. */
interface NewItems {
  readonly groups: readonly ItemGroup[];
  readonly count: number;
  readonly skipped: SkippedRows | null;
}

async function chooseNewItems(
  client: pg.PoolClient,
  { spool, mode, limits }: ItemIntake,
  job: LockedDraft,
  { mood, room }: { readonly mood: Mood; readonly room: Room },
): Promise<NewItems> {
  const all = { groups: spool.groups(), count: spool.itemCount, skipped: null };
  const needsCare =
    mood === 'careful' ||
    spool.hasOwnKeys ||
    (mode === 'append' &&
      (job.itemCount + spool.itemCount > limits.maxItemsPerJob ||
        !hasRoom(room, bytesAndItems(all)) ||
        (await hasStoredKeys(client, job))));
  if (!needsCare) return all;
  await stageItems(client, spool);
  refuse('duplicate_custom_id', await findRepeatsWithin(client, MAX_ERROR_DETAILS), spool);
  if (mode === 'replace') return all;
  await matchStoredItems(client, job);
  refuse('item_conflict', await findConflictsWithStored(client, MAX_ERROR_DETAILS), spool);
  const twins = await findStoredTwins(client, spool.itemCount);
  if (twins.count === 0) return all;
  return { groups: await groupNewItems(client), count: spool.itemCount - twins.count, skipped: twins };
}

function bytesAndItems({ groups, count }: Pick<NewItems, 'groups' | 'count'>): Growth {
  return { ...NO_GROWTH, openItems: count, storedBytes: groups.reduce((sum, group) => sum + group.bytes, 0) };
}

/** A new manifest takes the place of the old one. */
function growthOf({ mode }: ItemIntake, job: LockedDraft, news: NewItems): Growth {
  const added = bytesAndItems(news);
  if (mode === 'append') return added;
  return {
    ...added,
    openItems: added.openItems - job.itemCount,
    storedBytes: added.storedBytes - job.itemBytes,
  };
}

async function storeNewItems(
  client: pg.PoolClient,
  { spool, mode, limits }: ItemIntake,
  job: LockedDraft,
  { groups, count, skipped }: NewItems,
): Promise<StoredItems> {
  const isReplaced = mode === 'replace';
  const nextItemNo = job.firstItemNo + job.itemCount;
  const manifestNo = isReplaced ? job.manifestNo + 1 : job.manifestNo;
  const total = isReplaced ? count : job.itemCount + count;
  if (total > limits.maxItemsPerJob) throw tooManyItems(limits.maxItemsPerJob, total);
  if (nextItemNo + count > LAST_ITEM_NO) {
    throw new GatewayError(
      'job_too_large',
      'The manifest was replaced so often that item numbers ran out. Make a new job.',
    );
  }
  if (count > 0) {
    await copySpooledItems(client, spool, { bucket: job.bucket, manifestNo, firstItemNo: nextItemNo }, skipped);
    await addItemGroups(client, { uuid: job.uuid, manifestNo }, groups);
    if ((await countItemModels(client, { uuid: job.uuid, manifestNo })) > limits.maxModelsPerJob) {
      throw new GatewayError(
        'job_too_large',
        `Items of one job may name at most ${limits.maxModelsPerJob} models. Use several jobs.`,
        { field: 'items[*].request.model' },
      );
    }
  }
  const addedBytes = groups.reduce((sum, group) => sum + group.bytes, 0);
  const firstItemNo = isReplaced ? nextItemNo : job.firstItemNo;
  await updateItemCounters(client, job.uuid, { manifestNo, firstItemNo, itemCount: total, addedBytes, isReplaced });
  return { accepted: count, duplicates: spool.itemCount - count, total };
}

/** `total` is what the job would hold, where that is known. */
export function tooManyItems(maxItemsPerJob: number, total?: number): GatewayError {
  const would = total === undefined ? '' : `, and would hold ${total}`;
  return new GatewayError(
    'job_too_large',
    `A job may hold at most ${maxItemsPerJob} items${would}. Nothing was stored; use several jobs.`,
    { field: 'items' },
  );
}

function refuse(code: 'duplicate_custom_id' | 'item_conflict', clashes: Clashes, { positions }: SpooledItems): void {
  if (clashes.count === 0) return;
  const message =
    code === 'item_conflict'
      ? 'Items of this call are stored already with other content. Nothing was stored; see the details.'
      : 'Items of this call repeat the id or key of another one. Nothing was stored; see the details.';
  const details = clashes.rows.map((clash): ErrorDetail => {
    const place = positions === 'line' ? { line: clash.position } : {};
    const other =
      clash.firstIndex === null
        ? 'a stored item that differs'
        : positions === 'line'
          ? `line ${clash.firstPosition}`
          : `item ${clash.firstIndex}`;
    return {
      ...place,
      index: clash.itemIndex,
      customId: clash.customId,
      field: clash.field,
      error: code,
      message: `${clash.field} is also that of ${other}`,
    };
  });
  const field = `items[*].${clashes.rows[0]?.field ?? 'custom_id'}`;
  throw new GatewayError(code, message, { field, details, detailsCount: clashes.count });
}
