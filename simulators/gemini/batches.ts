import type { FaultAction } from '../fault-actions.ts';
import { refusal } from './errors.ts';
import type { Source } from './lines.ts';
import { readInlined } from './lines.ts';
import type { ModelTask } from './models.ts';
import { type JsonObject, readMessage, ShapeError } from './proto-json.ts';
import { type BatchRecord, idOf } from './records.ts';
import { BatchMessage } from './request-messages.ts';
import type { GeminiSettings } from './settings.ts';

/** A create body that fits its message. */
export interface BatchCreate {
  task: ModelTask;
  model: string;
  displayName: string | undefined;
  priority: string | undefined;
  webhook: { uris: string[]; userMetadata: unknown } | undefined;
  /** The name of an uploaded file, or the inline requests as they came. */
  input: { fileName: string } | { requests: readonly unknown[] };
}

interface BatchFields {
  displayName?: string;
  priority?: string;
  webhookConfig?: { uris?: string[]; userMetadata?: unknown };
  inputConfig?: { fileName?: string; requests?: { requests?: unknown[] } };
}

/** Checks what create checks at once: the batch itself and what stands around its requests (Gemini API docs). */
export function readCreate(body: JsonObject, asked: { task: ModelTask; model: string }): BatchCreate {
  const { batch } = shaped(() => readMessage(body, { batch: { message: () => BatchMessage } }));
  const { displayName, priority, webhookConfig, inputConfig = {} } = (batch ?? {}) as BatchFields;
  const { fileName, requests: { requests } = {} } = inputConfig;
  if ((fileName === undefined) === (requests === undefined)) {
    throw refusal('INVALID_ARGUMENT', '* CreateBatchRequest.batch.input_config: exactly one source must be set.');
  }
  if (requests?.length === 0) {
    throw refusal('INVALID_ARGUMENT', '* CreateBatchRequest.batch.input_config.requests: must not be empty.');
  }
  for (const [index, each] of (requests ?? []).entries()) {
    shaped(() => readInlined(each, `batch.input_config.requests.requests[${index}]`));
  }
  return {
    ...asked,
    displayName,
    priority,
    webhook: webhookConfig && { uris: webhookConfig.uris ?? [], userMetadata: webhookConfig.userMetadata },
    input: fileName === undefined ? { requests: requests ?? [] } : { fileName },
  };
}

export function newBatch(
  create: BatchCreate,
  at: { id: string; seq: number; now: number; inputFileId: string; mostTokens: number },
  settings: GeminiSettings,
  action: FaultAction,
): BatchRecord {
  const source: Source = 'fileName' in create.input ? 'file' : 'inline';
  const { resultDestination } = settings;
  return {
    id: at.id,
    seq: at.seq,
    task: create.task,
    model: create.model,
    displayName: create.displayName,
    source,
    destination: resultDestination === 'as_input' ? source : resultDestination,
    inputFileId: at.inputFileId,
    priority: create.priority,
    webhook: create.webhook,
    status: 'validating',
    enteredAt: {},
    createdAt: at.now,
    expiresAt: at.now + settings.expiryMs,
    total: 'requests' in create.input ? create.input.requests.length : 0,
    tokens: null,
    mostTokens: at.mostTokens,
    script: { end_state: action.end_state, stuck: action.stuck, list_lag_ms: action.list_lag_ms },
  };
}

export function requireBatch(batch: BatchRecord | undefined): BatchRecord {
  if (batch === undefined || batch.isDeleted) throw refusal('NOT_FOUND', 'Requested entity was not found.');
  return batch;
}

export function requestedFile({ input }: BatchCreate): string | undefined {
  return 'fileName' in input ? idOf(input.fileName, 'files') : undefined;
}

function shaped<T>(read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const field = /at '([^']*)'/.exec(error.message)?.[1] ?? '';
    throw refusal('INVALID_ARGUMENT', error.message, [
      {
        '@type': 'type.googleapis.com/google.rpc.BadRequest',
        fieldViolations: [{ field, description: error.message }],
      },
    ]);
  }
}
