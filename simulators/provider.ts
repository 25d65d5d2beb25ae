import { z } from 'zod';
import { FaultAction, type FaultKey } from './fault-actions.ts';

/** What `POST /control/batches/{id}` may do to a batch: the lifecycle faults, or a cancel as from the console. */
export const BatchChange = FaultAction.pick({ end_state: true, list_lag_ms: true }).extend({
  /** Null lets a stuck batch go on. */
  stuck: FaultAction.shape.stuck.nullable(),
  cancel: z.literal(true).optional(),
});
export type BatchChange = z.infer<typeof BatchChange>;

/** What the control port may do to a simulator, whichever provider it plays. */
export interface SimulatedProvider {
  name: string;
  /** The names faults may use, each with the keys that mean something there. */
  faultRoutes: Readonly<Record<string, readonly FaultKey[]>>;
  settings(): unknown;
  /** Throws a ZodError when the change is not understood. */
  changeSettings(change: unknown): void;
  /** Batches as the provider's own API shows them, newest first. */
  listBatches(): unknown[];
  /** The changed batch, or undefined when it is not this provider's. */
  changeBatch(id: string, change: BatchChange): unknown;
  /** Forgets files and batches and goes back to the settings it was started with. */
  reset(): Promise<void>;
}
