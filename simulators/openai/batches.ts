import { z } from 'zod';
import { NO_USAGE } from '../answer.ts';
import { type BatchStatus, isTerminal } from '../batch-record.ts';
import type { FaultAction } from '../fault-actions.ts';
import type { Facts } from '../journal.ts';
import { shownCounts } from '../shown-counts.ts';
import { invalidRequest, notFound, refusal } from './errors.ts';
import { pageOf } from './page.ts';
import { ENDPOINTS } from './prompt.ts';
import type { BatchRecord, FileRecord } from './records.ts';
import type { OpenAiSettings } from './settings.ts';

/** Endpoints the API takes but this simulator cannot answer. */
const NOT_SIMULATED = ['/v1/images/generations', '/v1/images/edits', '/v1/videos'];
const MOST_LISTED = 100;

/** The create body (OpenAI Batch API docs; openai SDK types). */
export const BatchCreate = z.strictObject({
  input_file_id: z.string(),
  endpoint: z.enum(ENDPOINTS),
  completion_window: z.literal('24h'),
  metadata: z
    .record(z.string().max(64), z.string().max(512))
    .refine((map) => Object.keys(map).length <= 16, 'at most 16 pairs are allowed')
    .nullish(),
  output_expires_after: z
    .strictObject({ anchor: z.literal('created_at'), seconds: z.number().int().min(3_600).max(2_592_000) })
    .nullish(),
});
export type BatchCreate = z.infer<typeof BatchCreate>;

/** Checks what create checks at once; everything about the lines comes to light later, on the batch. */
export function parseCreate(body: unknown): BatchCreate {
  const endpoint = typeof body === 'object' && body !== null && 'endpoint' in body ? String(body.endpoint) : '';
  if (NOT_SIMULATED.includes(endpoint)) {
    throw invalidRequest(`This simulator does not answer ${endpoint}.`, 'endpoint', 'not_simulated');
  }
  const parsed = BatchCreate.safeParse(body);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  const isUnknown = issue?.code === 'unrecognized_keys';
  const param = isUnknown ? String(issue.keys[0]) : (issue?.path.map(String).join('.') ?? '');
  const isMissing = issue?.code === 'invalid_type' && issue.input === undefined;
  if (isUnknown) throw invalidRequest(`Unknown parameter: '${param}'.`, param, 'unknown_parameter');
  if (isMissing) throw invalidRequest(`Missing required parameter: '${param}'.`, param, 'missing_required_parameter');
  throw invalidRequest(`Invalid value for '${param}': ${issue?.message}`, param, 'invalid_value');
}

export function requireInputFile(file: FileRecord | undefined, id: string): FileRecord {
  if (file === undefined) throw invalidRequest(`No such File object: ${id}`, 'input_file_id', 'invalid_input_file');
  if (file.purpose !== 'batch') {
    const message = `The input file must have the purpose 'batch', not '${file.purpose}'.`;
    throw invalidRequest(message, 'input_file_id', 'invalid_file_purpose');
  }
  return file;
}

export function newBatch(
  create: BatchCreate,
  at: { id: string; seq: number; now: number },
  settings: OpenAiSettings,
  action: FaultAction,
): BatchRecord {
  const seconds = create.output_expires_after?.seconds;
  return {
    id: at.id,
    seq: at.seq,
    endpoint: create.endpoint,
    completionWindow: create.completion_window,
    inputFileId: create.input_file_id,
    metadata: create.metadata ?? null,
    outputLifeMs: seconds === undefined ? null : seconds * 1000,
    status: 'validating',
    enteredAt: {},
    createdAt: at.now,
    expiresAt: at.now + settings.windowMs,
    model: null,
    total: 0,
    tokens: 0,
    errors: [],
    script: { end_state: action.end_state, stuck: action.stuck, list_lag_ms: action.list_lag_ms },
  };
}

export type BatchView = ReturnType<typeof batchView>;

/** A batch as the API shows it, with null for what is not (yet) there. */
export function batchView(batch: BatchRecord, counts: { total: number; completed: number; failed: number }) {
  const since = (status: BatchStatus) => {
    const at = batch.enteredAt[status];
    return at === undefined ? null : Math.floor(at / 1000);
  };
  const { input, cached, output, reasoning } = batch.result?.usage ?? NO_USAGE;
  return {
    id: batch.id,
    object: 'batch',
    endpoint: batch.endpoint,
    model: batch.model,
    errors: batch.errors.length === 0 ? null : { object: 'list', data: batch.errors },
    input_file_id: batch.inputFileId,
    completion_window: batch.completionWindow,
    status: batch.status as string,
    output_file_id: batch.result?.outputFileId ?? null,
    error_file_id: batch.result?.errorFileId ?? null,
    created_at: Math.floor(batch.createdAt / 1000),
    in_progress_at: since('in_progress'),
    expires_at: Math.floor(batch.expiresAt / 1000),
    finalizing_at: since('finalizing'),
    completed_at: since('completed'),
    failed_at: since('failed'),
    expired_at: since('expired'),
    cancelling_at: since('cancelling'),
    cancelled_at: since('cancelled'),
    request_counts: { total: counts.total, completed: counts.completed, failed: counts.failed },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: cached },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: reasoning },
      total_tokens: input + output,
    },
    metadata: batch.metadata,
  };
}

/** The view as a fault wants it shown. */
export function distorted(view: BatchView, action: FaultAction) {
  const { counts, native_status: status = view.status } = action;
  const { request_counts: trueCounts, ...rest } = { ...view, status };
  const requestCounts = shownCounts(trueCounts, counts);
  return { ...rest, ...(requestCounts !== undefined && { request_counts: requestCounts }) };
}

export function batchFacts(batch: BatchRecord | undefined, id: string): Facts {
  return {
    batch_id: id,
    input_file_id: batch?.inputFileId,
    endpoint: batch?.endpoint,
    metadata: batch?.metadata,
    batch_status: batch?.status,
  };
}

export function requireBatch(batch: BatchRecord | undefined, id: string): BatchRecord {
  if (batch === undefined) throw notFound(`No batch found with id '${id}'.`);
  return batch;
}

/** A batch that was cancelled may be cancelled again; one that ended otherwise may not. */
export function refuseCancel(batch: BatchRecord, settings: OpenAiSettings): void {
  const { cancelEndedStatus } = settings;
  if (!isTerminal(batch.status) || batch.status === 'cancelled' || cancelEndedStatus === 200) return;
  throw refusal(cancelEndedStatus, { message: `Cannot cancel a batch with status '${batch.status}'.` });
}

/** `GET /v1/batches`, newest first; a lagging batch is not there yet. */
export function listBatches<T extends { id: string }>(
  batches: readonly BatchRecord[],
  now: number,
  query: Record<string, string>,
  view: (batch: BatchRecord) => T,
) {
  const listed = batches.filter((batch) => now >= batch.createdAt + (batch.script.list_lag_ms ?? 0)).toReversed();
  const page = pageOf(listed, query, 20, MOST_LISTED);
  return { ...page, data: page.data.map(view) };
}
