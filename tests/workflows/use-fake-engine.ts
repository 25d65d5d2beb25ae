import { afterAll, beforeAll, inject } from 'vitest';
import { createNamespace } from '../harness/namespace.ts';
import { type FakeEngine, startFakeEngine } from './fake-engine.ts';

/** An engine for all tests of a file, in a namespace of the file's own. Call it once, outside of tests. */
export function useFakeEngine(): () => FakeEngine {
  let engine: FakeEngine | null = null;
  beforeAll(async () => {
    const address = inject('temporalAddress');
    const namespace = await createNamespace(address);
    engine = await startFakeEngine({ address, namespace, workflowBundle: { codePath: inject('workflowBundle') } });
  });
  afterAll(() => engine?.stop());
  return () => {
    if (engine === null) throw new Error('the engine runs only while tests do');
    return engine;
  };
}
