import type { Control } from '../../simulators/control-client.ts';
import type { Fault } from '../../simulators/faults.ts';
import { eventually } from './eventually.ts';
import type { TestGateway } from './gateway.ts';
import type { SimulatedProvider } from './simulated-provider.ts';

/** A batch as the simulated OpenAI shows it. */
export interface SimulatedBatch {
  readonly id: string;
  readonly status: string;
  readonly input_file_id: string;
  readonly output_file_id: string | null;
  readonly error_file_id: string | null;
  readonly metadata: { readonly batchgate_attempt?: string } | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
}

/** Every batch made so far, newest first. */
async function listBatches(simulator: Control): Promise<SimulatedBatch[]> {
  return ((await simulator.batches())['openai'] ?? []) as SimulatedBatch[];
}

/** The parts of an operator's view that tests read. */
interface OperatorAnswer {
  shards: { shard: number; state: string; batches: { attempt: number; attempt_token: string; item_count: number }[] }[];
}

/** Tokens of the attempts the gateway has begun for a job, by shard and attempt. */
export async function attemptTokens({ operator }: TestGateway, jobId: string): Promise<string[]> {
  const { shards } = await operator.call<OperatorAnswer>('GET', `/v1/operator/jobs/${jobId}`);
  return shards.flatMap(({ batches }) => batches.map((batch) => batch.attempt_token));
}

/** A job's batches as they truly are at the provider, whatever faults distort its replies; newest first. */
export async function batchesOf(gateway: TestGateway, jobId: string): Promise<SimulatedBatch[]> {
  const tokens = await attemptTokens(gateway, jobId);
  const batches = await listBatches(gateway.simulator);
  return batches.filter(({ metadata }) => tokens.includes(metadata?.batchgate_attempt ?? ''));
}

/** Waits until the job's newest batch satisfies `fact`. */
export async function batchOf(
  gateway: TestGateway,
  jobId: string,
  fact: (batch: SimulatedBatch) => boolean = () => true,
): Promise<SimulatedBatch> {
  return eventually(async () => (await batchesOf(gateway, jobId)).slice(0, 1).find(fact), { timeoutMs: 20_000 });
}

type More = Pick<Fault, 'times' | 'skip' | 'match'>;

/** A fault of a simulated provider, by default on one call. */
export function faultAt(provider: SimulatedProvider, route: string, action: Fault['action'], more: More = {}): Fault {
  return { provider, route, action, ...more };
}

/** A fault of the simulated OpenAI, by default on one call. */
export function openai(route: string, action: Fault['action'], more: More = {}): Fault {
  return faultAt('openai', route, action, more);
}

export function prompts(count: number, mark = ''): string[] {
  return Array.from({ length: count }, (_, index) => `question ${index + 1} ${mark}`.trim());
}
