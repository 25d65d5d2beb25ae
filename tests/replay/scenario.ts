import type { FakeEngine } from '../workflows/fake-engine.ts';

/** A course of events worth remembering: it plays on an engine, and ends with every workflow it started closed. */
export interface Scenario {
  readonly name: string;
  /** Ids of the workflows whose histories are kept. */
  play(engine: FakeEngine): Promise<readonly string[]>;
}
