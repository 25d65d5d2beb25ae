import type { Background } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import { type Runner as BatchRunner, createRunner as createBatchRunner } from '../batch-runner.ts';
import type { Clock } from '../clock.ts';
import type { BatchWork, DraftResults } from './batch-work.ts';
import { codeNumber, type RpcStatus } from './errors.ts';
import type { BatchRecord, State } from './records.ts';
import type { GeminiSettings } from './settings.ts';

export type Runner = BatchRunner<BatchRecord>;

const FOR_EVER = Number.MAX_SAFE_INTEGER;

interface Parts {
  state: State;
  clock: Clock;
  work: BatchWork;
  background: Background;
  settings: () => GeminiSettings;
  onEnd: (batch: BatchRecord) => void;
}

/** Runs batches as Gemini does: an item that never finishes holds its batch until it expires; only success has output. */
export function createRunner({ state, clock, work, background, settings, onEnd }: Parts): Runner {
  return createBatchRunner({
    ...work,
    clock,
    background,
    pace() {
      const { pendingMs: validatingMs, runningMs: inProgressMs, cancellingMs, itemsPerSecond } = settings();
      return { validatingMs, inProgressMs, finalizingMs: 0, cancellingMs, itemsPerSecond, waitsForExpiry: true };
    },
    async validate(batch) {
      const validated = await work.validate(batch);
      const { total, tokens } = validated;
      state.saveBatch(Object.assign(batch, { total, tokens }));
      return validated;
    },
    save: state.saveBatch,
    admit: () => true,
    entered(batch, at, { input, draft }) {
      if (isTerminal(batch.status) && batch.status !== 'completed') {
        batch.error = scriptedError(batch) ?? (batch.status === 'failed' ? input?.errors[0] : undefined);
      }
      if (isTerminal(batch.status) && draft !== undefined) publish({ state, settings }, batch, draft, at);
      state.saveBatch(batch);
    },
    ended(batch) {
      state.dropUnneeded(batch.inputFileId);
      onEnd(batch);
    },
  });
}

/** Makes written results known to the API where it shows any; inline ones lie in a file it does not know. */
function publish(
  { state, settings }: Pick<Parts, 'state' | 'settings'>,
  batch: BatchRecord,
  draft: DraftResults,
  at: number,
): void {
  const { completed, failed, total, bytes, fileId } = draft;
  const { outputFileLifeMs, cancelledOutput } = settings();
  const isShown = batch.status === 'completed' || (batch.status === 'cancelled' && cancelledOutput);
  const isFile = batch.destination === 'file';
  batch.result = { completed, failed, total, outputFileId: isShown && bytes > 0 ? fileId : null };
  if (bytes === 0) return;
  const file = {
    id: fileId,
    seq: state.nextSeq(),
    bytes,
    createdAt: at,
    expiresAt: isFile ? at + outputFileLifeMs : FOR_EVER,
    mimeType: 'application/jsonl',
    sha256: '',
    madeBy: batch.id,
    isInternal: !isFile,
  };
  state.saveFile(file);
  if (!isShown) state.deleteFile(file);
}

function scriptedError({ script }: BatchRecord): RpcStatus | undefined {
  const [first] = script.end_state?.errors ?? [];
  return first && { code: codeNumber(first.code), message: first.message ?? first.code };
}
