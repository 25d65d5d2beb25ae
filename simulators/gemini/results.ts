import type { FirstAttempts } from '../attempts.ts';
import type { Ending, Tally } from '../batch-record.ts';
import { parseDirectives } from '../directives.ts';
import type { FaultAction } from '../fault-actions.ts';
import { appendedLines, bytesToCut, createLineDamage, type ResultLine } from '../line-faults.ts';
import { readLines } from '../line-reader.ts';
import { createLineWriter } from '../line-writer.ts';
import { createRandom, shuffled } from '../random.ts';
import { rpcStatus } from './errors.ts';
import { fateOf, type Item, readWholeRequest } from './item.ts';
import { type InputItem, readInputLine, type Source } from './lines.ts';
import { type ItemReply, replyTo } from './replies.ts';
import { lineRewriters, resultLine } from './result-lines.ts';
import type { Input } from './validation.ts';

/** Lines are shuffled within windows of this size, so memory stays the same for any batch. */
const WINDOW_LINES = 4_096;
const NEVER_RAN: ItemReply = { error: rpcStatus('CANCELLED', 'The operation was cancelled.') };

export interface ResultsJob {
  batchId: string;
  input: Input;
  ending: Ending;
  destination: Source;
  outputPath: string;
  /** Undefined for the order of the input. */
  seed: number | undefined;
  embeddingDimensions: number;
  action: FaultAction;
}

export interface WrittenResults extends Tally {
  /** Size of the output; 0 when it has no lines, and then is not there. */
  bytes: number;
}

/**
 * Runs the batch: reads its input once and writes one result a line, damaged as the action says. The first `finished`
 * items that end at all are run; the rest never ran.
 */
export async function writeResults(job: ResultsJob, attempts: FirstAttempts): Promise<WrittenResults> {
  const { action, ending, batchId, input } = job;
  const writer = createLineWriter(job.outputPath, action.crlf ? '\r\n' : '\n');
  const damage = createLineDamage(action, lineRewriters) ?? ((line: ResultLine) => [line]);
  const random = createRandom(job.seed ?? 0);
  const tally = { completed: 0, failed: 0, total: 0 };
  let last: string | Buffer | undefined;
  let window: ResultLine[] = [];

  const write = ({ text }: ResultLine) => {
    writer.write(text);
    last = text;
  };
  const flush = async () => {
    for (const line of job.seed === undefined ? window : shuffled(window, random)) write(line);
    window = [];
    await writer.flush();
  };
  const lineOf = (item: InputItem, reply: ItemReply): ResultLine => ({
    file: 'output',
    text: resultLine(item, reply, job.destination),
  });
  const run = (item: Item, from: InputItem) => {
    const { embeddingDimensions } = job;
    const reply = replyTo(item, { embeddingDimensions, idSeed: `${batchId}/${tally.total}` });
    tally['response' in reply ? 'completed' : 'failed'] += 1;
    if (item.directives.missing) return [];
    return item.directives.duplicate ? [lineOf(from, reply), lineOf(from, reply)] : [lineOf(from, reply)];
  };
  const readItem = async (from: InputItem): Promise<ResultLine[]> => {
    tally.total += 1;
    const { onceKey, ...read } = await readWholeRequest(from.request, input);
    const found = parseDirectives(read.prompt);
    const item: Item = { ...input, ...read, directives: attempts.directivesFor(onceKey, found, batchId) };
    const hangs = fateOf(item) === 'hangs';
    const isFinished = !hangs && tally.completed + tally.failed < ending.finished;
    if (isFinished || hangs) attempts.claim(onceKey, found, batchId);
    if (isFinished) return run(item, from);
    return ending.listsUnfinished ? [lineOf(from, NEVER_RAN)] : [];
  };

  for await (const block of readLines(input.path)) {
    for (const text of block) {
      const from = text.trim() === '' ? undefined : readInputLine(text, input.source);
      if (from !== undefined) window.push(...(await readItem(from)).flatMap(damage));
      if (window.length >= WINDOW_LINES) await flush();
    }
  }
  await flush();
  for (const line of appendedLines(action)) write(line);
  return { ...tally, bytes: await writer.close(bytesToCut(action, 'output', last)) };
}
