import { isTerminal } from '../batch-record.ts';
import type { FaultAction } from '../fault-actions.ts';
import type { Facts } from '../journal.ts';
import { invalidRequest, notFound, refusal } from './errors.ts';
import { pageOf } from './page.ts';
import type { BatchRecord } from './records.ts';
import { ownEndState } from './runner.ts';
import type { AnthropicSettings } from './settings.ts';
import { statusOf } from './shown-batch.ts';
import type { ApiVersion } from './versions.ts';

/** How long a caller whose batch found the queue full is told to wait. */
const QUEUE_RETRY_S = 30;

export function newBatch(
  create: { version: ApiVersion; origin: string; items: number; ends: number; inputFileId: string },
  at: { id: string; seq: number; now: number },
  settings: AnthropicSettings,
  action: FaultAction,
): BatchRecord {
  return {
    id: at.id,
    seq: at.seq,
    version: create.version,
    origin: create.origin,
    inputFileId: create.inputFileId,
    status: 'validating',
    enteredAt: {},
    createdAt: at.now,
    expiresAt: at.now + settings.windowMs,
    archivesAt: at.now + settings.resultLifeMs,
    total: create.items,
    ends: create.ends,
    script: { end_state: ownEndState(action.end_state), stuck: action.stuck, list_lag_ms: action.list_lag_ms },
  };
}

/** Requests wait in one queue whatever their model; a batch that would overfill it is refused at once. */
export function refuseOverfull(items: number, batches: readonly BatchRecord[], settings: AnthropicSettings): void {
  const running = batches.filter(({ status }) => !isTerminal(status));
  const queued = running.reduce((sum, { total }) => sum + total, 0);
  const limit = settings.queuedRequestLimit;
  if (queued + items <= limit) return;
  const message = `This request would exceed your organization's limit of ${limit} batch requests in the queue.`;
  throw refusal({ status: 429, type: 'rate_limit_error', message }, { 'retry-after': String(QUEUE_RETRY_S) });
}

export function batchFacts(batch: BatchRecord | undefined, id: string): Facts {
  return { batch_id: id, items: batch?.total, batch_status: batch && statusOf(batch) };
}

export function requireBatch(batch: BatchRecord | undefined, id: string): BatchRecord {
  if (batch === undefined) throw notFound(`Message Batch ${id} not found.`);
  return batch;
}

/** A batch that was cancelled may be cancelled again; one that ended otherwise may not. */
export function refuseCancel(batch: BatchRecord, { cancelEndedStatus: status }: AnthropicSettings): void {
  if (!isTerminal(batch.status) || batch.enteredAt.cancelling !== undefined || status === 200) return;
  const type = status === 409 ? 'conflict_error' : 'invalid_request_error';
  throw refusal({ status, type, message: `Message Batch ${batch.id} has ended and cannot be canceled.` });
}

export function refuseDelete(batch: BatchRecord): void {
  if (isTerminal(batch.status)) return;
  throw invalidRequest(`Message Batch ${batch.id} cannot be deleted while it is processing; cancel it first.`);
}

/** `GET /v1/messages/batches`, newest first; a lagging batch is not there yet. */
export function listBatches<T>(
  batches: readonly BatchRecord[],
  now: number,
  query: Readonly<Record<string, string>>,
  view: (batch: BatchRecord) => T,
) {
  const listed = batches.filter((batch) => now >= batch.createdAt + (batch.script.list_lag_ms ?? 0)).toReversed();
  const page = pageOf(listed, query);
  return { ...page, data: page.data.map(view) };
}
