import { z } from 'zod';
import type { JournalEntry } from '../../simulators/journal.ts';
import { eventually } from './eventually.ts';
import type { TestGateway } from './gateway.ts';
import { attemptTokens, batchesOf } from './provider-side.ts';

/** Every create that was sent for a job, answered or not, oldest first. */
export async function createsOf(gateway: TestGateway, jobId: string): Promise<JournalEntry[]> {
  const tokens = await attemptTokens(gateway, jobId);
  const entries = await gateway.simulator.journal({ route: 'batches.create' });
  return entries.filter(({ facts }) => tokens.includes(readToken(facts)));
}

/** A batch as its provider has it, whichever that is. */
export interface ShownBatch {
  readonly id: string;
  /** The attempt token it was created under. */
  readonly token: string;
  /** The provider's own word. */
  readonly status: string;
}

/**
 * A job's batches as they truly are at their providers, whatever faults distort the replies; newest first. Told by the
 * creates that made them, and so also where a batch carries no label.
 */
export async function batchesAt(gateway: TestGateway, jobId: string): Promise<ShownBatch[]> {
  const creates = await createsOf(gateway, jobId);
  const shown = await gateway.simulator.batches();
  const statusOf = new Map(Object.values(shown).flat().map(readStatus));
  return creates.toReversed().flatMap(({ facts }) => {
    const status = statusOf.get(String(facts['batch_id']));
    return status === undefined ? [] : [{ id: String(facts['batch_id']), token: readToken(facts), status }];
  });
}

/** Waits until the job's newest batch satisfies `fact`. */
export async function batchAt(
  gateway: TestGateway,
  jobId: string,
  fact: (batch: ShownBatch) => boolean = () => true,
): Promise<ShownBatch> {
  return eventually(async () => (await batchesAt(gateway, jobId)).slice(0, 1).find(fact), { timeoutMs: 20_000 });
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

/** Where each provider's create carries the token: its metadata, its display name, or the ids of its items. */
const CreateFacts = z.object({
  metadata: z.object({ batchgate_attempt: z.string() }).optional(),
  display_name: z.string().optional(),
  first_custom_id: z.string().optional(),
});

function readToken(facts: JournalEntry['facts']): string {
  const { metadata, display_name: label, first_custom_id: itemId } = CreateFacts.safeParse(facts).data ?? {};
  return metadata?.batchgate_attempt ?? label ?? itemId?.split('-')[0] ?? '';
}

const AnyBatch = z.union([
  z.object({ id: z.string(), status: z.string() }).transform(({ id, status }) => [id, status] as const),
  z
    .object({ id: z.string(), processing_status: z.string() })
    .transform((batch) => [batch.id, batch.processing_status] as const),
  z
    .object({ name: z.string(), metadata: z.object({ state: z.string() }) })
    .transform((batch) => [batch.name, batch.metadata.state] as const),
]);

function readStatus(batch: unknown): readonly [id: string, status: string] {
  return AnyBatch.parse(batch);
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
