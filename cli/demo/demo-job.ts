import type { CreateJob } from '../../contracts/create-job.ts';
import type { Ticket } from './tickets.ts';

/** One of the jobs that run side by side. */
export interface DemoJob {
  readonly title: string;
  readonly wanted: CreateJob;
  readonly tickets: readonly Ticket[];
  /** A simulator understands nothing, so it is told what a model would answer; a real provider is not. */
  readonly isSimulated: boolean;
  /** The mark by which a simulator brings trouble on the ticket at a place; null for none. */
  readonly troubleOf: (index: number) => string | null;
}
