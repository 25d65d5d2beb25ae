import { writeFile } from 'node:fs/promises';
import { Refusal } from '../endpoint.ts';
import type { FaultAction } from '../fault-actions.ts';
import { newId } from '../state.ts';
import { type BatchCreate, newBatch, requestedFile } from './batches.ts';
import { errorOfStatus, refusal } from './errors.ts';
import type { BatchRecord, FileRecord } from './records.ts';
import { requireRoom } from './room.ts';
import type { GeminiSimulator } from './simulator.ts';
import { countTokens, type Input, requestsProblem } from './validation.ts';

/** Takes a batch up, or refuses it: an input that is not there, requests it reads at once, no room. */
export function createBatch(
  simulator: GeminiSimulator,
  create: BatchCreate,
  action: FaultAction,
): Promise<BatchRecord> {
  // One at a time, so that two creates cannot both take the last room.
  return simulator.oneByOne(async () => {
    const { state, clock } = simulator;
    const settings = simulator.options();
    const file = await inputFile(simulator, create);
    const isInline = file.isInternal === true;
    const input: Input = { ...create, path: state.pathOf(file.id), source: isInline ? 'inline' : 'file' };
    try {
      const problem = settings.badRequestsFail === 'create' ? await requestsProblem(input) : undefined;
      if (problem !== undefined) throw refusal('INVALID_ARGUMENT', problem);
      const newcomer = { model: create.model, mostTokens: mostTokens(file), countTokens: () => countTokens(input) };
      await requireRoom(newcomer, state.batches(), settings, simulator.whenRead);
      const at = { id: newId(''), seq: state.nextSeq(), now: clock.now() };
      const batch = newBatch(create, { ...at, inputFileId: file.id, mostTokens: mostTokens(file) }, settings, action);
      state.saveBatch(batch);
      simulator.take(batch);
      return batch;
    } finally {
      // Inline requests are no file for anybody; their bytes stay for as long as their batch reads them.
      if (isInline) state.deleteFile(file);
    }
  });
}

async function inputFile(simulator: GeminiSimulator, create: BatchCreate): Promise<FileRecord> {
  const { state, clock } = simulator;
  const { missingInputStatus, maxFileBytes } = simulator.options();
  const now = clock.now();
  if ('requests' in create.input) {
    const id = newId('inline-');
    const text = create.input.requests.map((each) => `${JSON.stringify(each)}\n`).join('');
    await writeFile(state.pathOf(id), text);
    const bytes = Buffer.byteLength(text);
    const file: FileRecord = {
      id,
      seq: state.nextSeq(),
      bytes,
      createdAt: now,
      expiresAt: now,
      mimeType: 'application/jsonl',
      sha256: '',
      isInternal: true,
    };
    state.saveFile(file);
    return file;
  }
  const file = state.findFile(requestedFile(create) ?? '', now);
  if (file === undefined || file.isInternal) throw new Refusal(errorOfStatus(missingInputStatus));
  if (file.bytes > maxFileBytes) throw refusal('INVALID_ARGUMENT', `The input file exceeds ${maxFileBytes} bytes.`);
  return file;
}

// A token is about four characters, and no text is longer than its bytes.
function mostTokens({ bytes }: FileRecord): number {
  return Math.ceil(bytes / 4);
}
