import { NO_USAGE } from '../answer.ts';
import type { FirstAttempts } from '../attempts.ts';
import type { Ending } from '../batch-record.ts';
import { parseDirectives } from '../directives.ts';
import type { FaultAction } from '../fault-actions.ts';
import { appendedLines, bytesToCut, createLineDamage, type ResultFileName, type ResultLine } from '../line-faults.ts';
import { readLines } from '../line-reader.ts';
import { createLineWriter } from '../line-writer.ts';
import { createRandom, shuffled } from '../random.ts';
import { fateOf, type Item } from './item.ts';
import { type InputLine, isProblem, readInputLine } from './lines.ts';
import { type Endpoint, readRequest } from './prompt.ts';
import type { BatchUsage } from './records.ts';
import { replyTo } from './replies.ts';
import { lineRewriters, neverRanLine, ranLine } from './result-lines.ts';

/** Lines are shuffled within windows of this size, so memory stays the same for any batch. */
const WINDOW_LINES = 4_096;

export interface ResultsJob {
  batchId: string;
  endpoint: Endpoint;
  ending: Ending;
  inputPath: string;
  paths: Record<ResultFileName, string>;
  seed: number;
  /** Unix milliseconds the replies are dated with. */
  now: number;
  embeddingDimensions: number;
  action: FaultAction;
}

export interface WrittenResults {
  completed: number;
  failed: number;
  total: number;
  /** Sizes; 0 for a file without lines, which is then not there. */
  bytes: Record<ResultFileName, number>;
  usage: BatchUsage;
}

/**
 * Runs the batch: reads the input file once and writes the output and error files, in another order and damaged as the
 * action says. The first `finished` items that end at all are run; the rest never ran.
 */
export async function writeResults(job: ResultsJob, attempts: FirstAttempts): Promise<WrittenResults> {
  const { action, ending, paths } = job;
  const lineEnd = action.crlf ? '\r\n' : '\n';
  const writers = { output: createLineWriter(paths.output, lineEnd), error: createLineWriter(paths.error, lineEnd) };
  const last: Partial<Record<ResultFileName, string | Buffer>> = {};
  const damage = createLineDamage(action, lineRewriters) ?? ((line: ResultLine) => [line]);
  const random = createRandom(job.seed);
  const tally = { completed: 0, failed: 0, total: 0, usage: NO_USAGE };
  let window: ResultLine[] = [];

  const write = (line: ResultLine) => {
    writers[line.file].write(line.text);
    last[line.file] = line.text;
  };
  const flush = async () => {
    for (const line of shuffled(window, random)) write(line);
    window = [];
    await writers.output.flush();
    await writers.error.flush();
  };
  const run = (item: Item, customId: string) => {
    const idSeed = `${job.batchId}/${customId}`;
    const reply = replyTo(item, { now: job.now, embeddingDimensions: job.embeddingDimensions, idSeed });
    const isGood = reply.status < 400;
    tally[isGood ? 'completed' : 'failed'] += 1;
    if (item.directives.missing) return [];
    tally.usage = addUsage(tally.usage, reply.usage);
    const line: ResultLine = { file: isGood ? 'output' : 'error', text: ranLine(job.batchId, customId, reply) };
    return item.directives.duplicate ? [line, line] : [line];
  };
  const readLine = async ({ customId, body }: InputLine): Promise<ResultLine[]> => {
    tally.total += 1;
    const { prompt, material, onceKey } = await readRequest(job.endpoint, body);
    const found = parseDirectives(prompt);
    const directives = attempts.directivesFor(onceKey, found, job.batchId);
    const item: Item = { endpoint: job.endpoint, body, prompt, material, directives };
    const hangs = fateOf(item) === 'hangs';
    const isFinished = !hangs && tally.completed + tally.failed < ending.finished;
    if (isFinished || hangs) attempts.claim(onceKey, found, job.batchId);
    if (isFinished) return run(item, customId);
    return ending.listsUnfinished ? [{ file: 'error', text: neverRanLine(job.batchId, customId, ending.status) }] : [];
  };

  for await (const block of readLines(job.inputPath)) {
    for (const text of block) {
      const line = readInputLine(text, job.endpoint);
      if (!isProblem(line)) window.push(...(await readLine(line)).flatMap(damage));
      if (window.length >= WINDOW_LINES) await flush();
    }
  }
  await flush();
  for (const line of appendedLines(action)) write(line);
  const close = (file: ResultFileName) => writers[file].close(bytesToCut(action, file, last[file]));
  return { ...tally, bytes: { output: await close('output'), error: await close('error') } };
}

function addUsage(sum: BatchUsage, more: BatchUsage): BatchUsage {
  return {
    input: sum.input + more.input,
    cached: sum.cached + more.cached,
    cacheWrite: sum.cacheWrite + more.cacheWrite,
    output: sum.output + more.output,
    reasoning: sum.reasoning + more.reasoning,
  };
}
