import type { JournalEntry } from '../../simulators/journal.ts';
import type { TestGateway } from './gateway.ts';
import { attemptTokens, batchesOf } from './provider-side.ts';

/** Every create that was sent for a job, answered or not, oldest first. */
export async function createsOf(gateway: TestGateway, jobId: string): Promise<JournalEntry[]> {
  const tokens = await attemptTokens(gateway, jobId);
  const entries = await gateway.simulator.journal({ route: 'batches.create' });
  return entries.filter(({ facts }) => tokens.includes(readToken(facts['metadata'])));
}

/** Every upload of a job that arrived whole, oldest first. */
export async function uploadsOf(gateway: TestGateway, jobId: string): Promise<JournalEntry[]> {
  const names = (await attemptTokens(gateway, jobId)).map((token) => `${token}.jsonl`);
  const entries = await gateway.simulator.journal({ route: 'files.create' });
  return entries.filter(({ facts }) => names.includes(String(facts['filename'])));
}

/** Milliseconds between each call and the next. */
export function gapsBetween(entries: readonly JournalEntry[]): number[] {
  return entries.slice(1).map(({ at }, index) => at - (entries[index]?.at ?? at));
}

function readToken(metadata: unknown): string {
  if (typeof metadata !== 'object' || metadata === null || !('batchgate_attempt' in metadata)) return '';
  return String(metadata.batchgate_attempt);
}

/** A line of an input file as the provider received it. */
export interface InputLine {
  readonly custom_id: string;
  readonly body: Record<string, unknown>;
}

/** The input lines of every batch of a job, newest batch first, each batch's in file order. */
export async function inputLinesOf(gateway: TestGateway, jobId: string): Promise<InputLine[][]> {
  const batches = await batchesOf(gateway, jobId);
  return Promise.all(batches.map(({ input_file_id: fileId }) => readInputFile(gateway, fileId)));
}

async function readInputFile({ openaiUrl }: TestGateway, fileId: string): Promise<InputLine[]> {
  const response = await fetch(`${openaiUrl}/files/${fileId}/content`, {
    headers: { authorization: 'Bearer test-key' },
  });
  const text = await response.text();
  return text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line));
}
