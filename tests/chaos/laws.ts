import { z } from 'zod';
import { toUuid } from '../../db/ids.ts';
import { isTerminal } from '../../domain/job-state.ts';
import { verifyLedger } from '../../ledger/verify.ts';
import type { JournalEntry } from '../../simulators/journal.ts';
import { findFaults } from '../harness/soundness.ts';
import type { Scene } from './perform-act.ts';
import { questionText, replyText } from './plan.ts';
import type { JobTrace } from './run-job.ts';
import type { StubbornClient } from './stubborn-client.ts';

const Counts = z.object({
  total: z.number(),
  completed: z.number(),
  failed: z.number(),
  expired: z.number(),
  cancelled: z.number(),
});

const JobFacts = z.object({
  status: z.string(),
  counts: Counts,
  cost: z.object({ held: z.string(), settled: z.string() }),
  refusal: z.unknown().optional(),
});
type JobFacts = z.infer<typeof JobFacts>;

const Row = z.object({
  custom_id: z.string(),
  status: z.string(),
  result: z.object({ choices: z.array(z.object({ message: z.object({ content: z.unknown() }) })) }).nullable(),
});
type Row = z.infer<typeof Row>;

const Budgets = z.object({ data: z.array(z.object({ held: z.string() })) });

const ENDS = ['completed', 'failed', 'expired', 'cancelled'] as const;

/** Whether a job has come to rest: ended, or a draft that was refused or never submitted. */
export function isAtRest(state: string): boolean {
  return state === 'draft' || isTerminal(state as Parameters<typeof isTerminal>[0]);
}

/**
 * What does not hold of the seed's jobs, of what its tenants spent, and of what the providers saw; each as one sentence.
 * Called when every job is at rest.
 */
export async function findBroken(scene: Scene, since: Date): Promise<string[]> {
  const { stack, jobs, clients } = scene;
  const broken: string[] = [];
  for (const [index, trace] of jobs.entries()) {
    const client = clients[index];
    if (client === undefined || trace.jobId === null) continue;
    const found = await findBrokenInJob(scene, { client, trace, index, jobId: trace.jobId });
    broken.push(...found.map((fault) => `job ${index} (${trace.jobId}): ${fault}`));
  }
  for (const client of new Set(clients)) {
    const { data } = Budgets.parse((await client.call('GET', '/v1/budgets')).json);
    for (const { held } of data) if (held !== '0.00') broken.push(`a budget holds ${held} in the end`);
  }
  const { differences } = await verifyLedger(stack.db, { since });
  for (const difference of differences) broken.push(`the ledger differs: ${JSON.stringify(difference)}`);
  return [...broken, ...findRepeatedCreates(await stack.control.journal({ route: 'batches.create' }))];
}

interface JobCase {
  readonly client: StubbornClient;
  readonly trace: JobTrace;
  readonly index: number;
  readonly jobId: string;
}

async function findBrokenInJob({ stack }: Scene, { client, trace, index, jobId }: JobCase): Promise<string[]> {
  const job = JobFacts.parse((await client.call('GET', `/v1/batch-jobs/${jobId}`)).json);
  const broken: string[] = [];
  if (job.counts.total !== trace.items) broken.push(`has ${job.counts.total} items of ${trace.items} that were taken`);
  if (job.cost.held !== '0.00') broken.push(`holds ${job.cost.held} in the end`);
  if (!(await wasAccepted(stack.db, jobId))) return [...broken, ...findBrokenInUnaccepted(job, trace)];
  if (!isTerminal(job.status as Parameters<typeof isTerminal>[0])) broken.push(`was accepted and is ${job.status}`);
  const rows = await readRows(client, jobId);
  // What was tried again inside the job is counted by how it ended at last.
  const last = trace.plan.tries > 1 ? await readRows(client, jobId, '?view=latest') : rows;
  broken.push(...findBrokenInRows(job, last), ...findStrayReplies(trace, rows, index));
  broken.push(...(await findBrokenCharges(stack.db, jobId, rows)));
  broken.push(...(await findFaults(stack.db, stack.control, jobId)));
  return broken;
}

type Db = Scene['stack']['db'];

async function wasAccepted(db: Db, jobId: string): Promise<boolean> {
  const { rows } = await db.pool.query<{ accepted: boolean }>(
    'SELECT reserved_amount IS NOT NULL AS accepted FROM batch_jobs WHERE job_id = $1',
    [toUuid('job', jobId)],
  );
  return rows[0]?.accepted === true;
}

function findBrokenInUnaccepted({ status, refusal }: JobFacts, { submitted }: JobTrace): string[] {
  if (status === 'cancelled') return [];
  if (status !== 'draft') return [`was not accepted and is ${status}`];
  const wasTaken = submitted === 200 || submitted === 202;
  return wasTaken && (refusal ?? null) === null ? ['was submitted and is a draft without a refusal'] : [];
}

async function readRows(client: StubbornClient, jobId: string, query = ''): Promise<Row[]> {
  const path = `/v1/batch-jobs/${jobId}/results${query}`;
  const { text } = await client.call('GET', path, { accept: 'application/x-ndjson' });
  const lines = text.split('\n').filter((line) => line !== '');
  return lines.map((line) => Row.parse(JSON.parse(line)));
}

/** `rows`: one of each item, as it ended. */
function findBrokenInRows({ counts }: JobFacts, rows: readonly Row[]): string[] {
  const broken: string[] = [];
  const ended = ENDS.reduce((sum, end) => sum + counts[end], 0);
  if (ended !== counts.total) broken.push(`${ended} of ${counts.total} items ended: ${JSON.stringify(counts)}`);
  const ids = new Set(rows.map((row) => row.custom_id));
  if (ids.size !== counts.total || rows.length !== counts.total)
    broken.push(`${rows.length} results of ${ids.size} items, not of ${counts.total}`);
  for (const end of ENDS) {
    const shown = rows.filter(({ status }) => status === end).length;
    if (shown !== counts[end]) broken.push(`${shown} results are ${end}, ${counts[end]} are counted`);
  }
  return broken;
}

/** A reply belongs to the item whose prompt asked for it. */
function findStrayReplies({ plan }: JobTrace, rows: readonly Row[], index: number): string[] {
  const prompts = new Map(plan.appends.flat().map((text, place) => [`row_${place + 1}`, { text, item: place + 1 }]));
  return rows.flatMap(({ custom_id: id, status, result }) => {
    const prompt = prompts.get(id);
    const content = result?.choices[0]?.message.content;
    if (status !== 'completed' || prompt === undefined || typeof content !== 'string' || content === '') return [];
    const wanted = replyText(index, prompt.item);
    // A mark that holds once takes the wanted text with it; another reply repeats the question.
    if (content === wanted || content.includes(questionText(index, prompt.item))) return [];
    return [`${id} has the reply "${content.slice(0, 60)}", not "${wanted}"`];
  });
}

async function findBrokenCharges(db: Db, jobId: string, rows: readonly Row[]): Promise<string[]> {
  const { rows: charges } = await db.pool.query<{ items: number; entries: number }>(
    `SELECT count(DISTINCT item_no)::int AS items, count(*)::int AS entries FROM ledger_entries
     WHERE subject_id = $1 AND event = 'batch.item.settled'`,
    [toUuid('job', jobId)],
  );
  const { items = 0, entries = 0 } = charges[0] ?? {};
  const completed = rows.filter(({ status }) => status === 'completed').length;
  return [
    ...(entries === items ? [] : [`${entries} charges for ${items} items`]),
    ...(items >= completed ? [] : [`${items} items are charged, ${completed} are completed`]),
  ];
}

const CreateFacts = z.object({
  batch_id: z.string(),
  metadata: z.object({ batchgate_attempt: z.string() }).optional(),
  display_name: z.string().optional(),
  first_custom_id: z.string().optional(),
});

/** Creates that a provider took under one attempt's token, by where each provider's create carries it. */
function findRepeatedCreates(entries: readonly JournalEntry[]): string[] {
  const batches = new Map<string, string[]>();
  for (const { facts } of entries) {
    const { data } = CreateFacts.safeParse(facts);
    if (data === undefined) continue;
    const token = data.metadata?.batchgate_attempt ?? data.display_name ?? data.first_custom_id?.split('-')[0] ?? '';
    batches.set(token, [...(batches.get(token) ?? []), data.batch_id]);
  }
  return [...batches]
    .filter(([, ids]) => ids.length > 1)
    .map(([token, ids]) => `token ${token} made the batches ${ids.join(', ')}`);
}
