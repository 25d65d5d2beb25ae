import { writeFile } from 'node:fs/promises';
import type { FirstAttempts } from '../attempts.ts';
import type { Ending } from '../batch-record.ts';
import type { EndState, FaultAction } from '../fault-actions.ts';
import { appendedLines, bytesToCut, createLineDamage } from '../line-faults.ts';
import { readLines } from '../line-reader.ts';
import { createLineWriter } from '../line-writer.ts';
import { createRandom, shuffled } from '../random.ts';
import { hangs, type Item, itemError, readItem } from './item.ts';
import { messageOf } from './message.ts';
import type { BatchRecord, Result } from './records.ts';
import type { BatchRequest } from './requests.ts';
import { errored, type ItemResult, lineRewriters, resultLine } from './result-lines.ts';

/** Lines are shuffled within windows of this size, so memory stays the same for any batch. */
const WINDOW_LINES = 4_096;

export interface ResultsJob {
  batch: Pick<BatchRecord, 'id' | 'version' | 'total'>;
  ending: Ending;
  /** A scripted failure of the batch: the first gives the error of the items it left. */
  errors: EndState['errors'];
  inputPath: string;
  outputPath: string;
  seed: number;
  action: FaultAction;
}

export interface WrittenResults extends Omit<Result, 'fileId'> {
  bytes: number;
}

/**
 * Runs the batch: reads its requests once and writes their results, in another order and damaged as the action says.
 * The first `finished` items that end at all are run; the rest end the way the batch does.
 */
export async function writeResults(job: ResultsJob, attempts: FirstAttempts): Promise<WrittenResults> {
  const { action, batch, ending } = job;
  const writer = createLineWriter(job.outputPath, action.crlf ? '\r\n' : '\n');
  const damage = createLineDamage(action, lineRewriters) ?? ((line) => [line]);
  const random = createRandom(job.seed);
  const tally = { completed: 0, failed: 0, canceled: 0, expired: 0, total: batch.total };
  let window: (string | Buffer)[] = [];
  let last: string | Buffer = '';
  let finished = 0;

  const write = (line: string | Buffer) => {
    writer.write(line);
    last = line;
  };
  const flush = async () => {
    for (const line of shuffled(window, random)) write(line);
    window = [];
    await writer.flush();
  };
  const linesFor = async (text: string): Promise<string[]> => {
    const { custom_id: customId, params }: BatchRequest = JSON.parse(text);
    const call = { attempt: batch.id, version: batch.version, isBatch: true };
    const { item, claim } = await readItem(params, call, attempts);
    const isFinished = !hangs(item) && finished < ending.finished;
    if (isFinished || hangs(item)) claim();
    if (isFinished) finished += 1;
    const result = isFinished ? resultOf(item, batch.id, customId) : unfinished(job, customId);
    tally[TALLIED_AS[result.type]] += 1;
    if (isFinished ? item.directives.missing : !ending.listsUnfinished) return [];
    const line = resultLine(customId, result);
    return isFinished && item.directives.duplicate ? [line, line] : [line];
  };

  for await (const block of readLines(job.inputPath)) {
    for (const text of block) {
      const lines = (await linesFor(text)).flatMap((line) => damage({ file: 'output', text: line }));
      window.push(...lines.map((line) => line.text));
      if (window.length >= WINDOW_LINES) await flush();
    }
  }
  await flush();
  for (const { text } of appendedLines(action)) write(text);
  const bytes = await writer.close(bytesToCut(action, 'output', last));
  // Without a line the writer makes no file; the API has one all the same.
  if (bytes === 0) await writeFile(job.outputPath, '');
  return { ...tally, bytes };
}

const TALLIED_AS = {
  succeeded: 'completed',
  errored: 'failed',
  canceled: 'canceled',
  expired: 'expired',
} as const satisfies Record<ItemResult['type'], keyof Result>;

function resultOf(item: Item, batchId: string, customId: string): ItemResult {
  const idSeed = `${batchId}/${customId}`;
  const error = itemError(item);
  return error === undefined ? { type: 'succeeded', message: messageOf(item, idSeed) } : errored(error, idSeed);
}

/** An item that was not run: an errored one when neither time nor a cancel explains it. */
function unfinished({ batch, ending, errors }: ResultsJob, customId: string): ItemResult {
  if (ending.status === 'expired') return { type: 'expired' };
  if (ending.status === 'cancelled') return { type: 'canceled' };
  const [{ code: type, message = type } = { code: 'api_error', message: 'Internal server error' }] = errors ?? [];
  return errored({ type, message }, `${batch.id}/${customId}`);
}
