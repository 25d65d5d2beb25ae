import { randomBytes } from 'node:crypto';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { MockActivityEnvironment } from '@temporalio/testing';
import { ByteBudget } from '../../activities/byte-budget.ts';
import type { ActivityDependencies, JobWorkflowControl } from '../../activities/dependencies.ts';
import { TransferSlots } from '../../activities/transfer-slots.ts';
import type { Database } from '../../db/client.ts';
import { PdfTextReader } from '../../documents/pdf-text-reader.ts';
import { ATTEMPT_TOKEN_BYTES, encodeAttemptToken } from '../../domain/attempt-token.ts';
import { createGatewayCatalogue } from '../../domain/gateway-catalogue.ts';
import { createKeyRing, KEY_BYTES } from '../../encryption/key-ring.ts';
import type { BatchProvider } from '../../providers/provider.ts';
import { fixedAdapters } from '../../providers/provider-adapters.ts';

/** The built-in providers as they are without any setting. */
export const TEST_FACTS = {
  anthropicApiVersion: '2026-10-21',
  regions: { openai: 'global', anthropic: 'global', gemini: 'global' },
  configured: [],
} as const;

/** Made anew by every test process. */
export const TEST_CIPHER = createKeyRing([{ id: 'test', key: randomBytes(KEY_BYTES) }]);

/** Where no workflow runs, and none is started. */
export const IDLE_WORKFLOWS: JobWorkflowControl = {
  start: async () => false,
  signalCancel: async () => undefined,
  wakeShard: async () => undefined,
  wakeJob: async () => false,
  isShardRunning: async () => false,
};

/** Dependencies with short paces and no one to talk to; override what the test is about. */
/** Shared, since it begins a thread once it is asked. */
const pdfTexts = new PdfTextReader();

export function testDependencies(
  db: Database,
  overrides: Partial<ActivityDependencies> & { provider?: BatchProvider } = {},
): ActivityDependencies {
  const { provider, ...rest } = overrides;
  return {
    db,
    providers: fixedAdapters(new Map(provider === undefined ? [] : [[provider.provider, provider]])),
    catalogue: createGatewayCatalogue(TEST_FACTS),
    cipher: TEST_CIPHER,
    artifacts: null,
    workflows: IDLE_WORKFLOWS,
    deliveries: { start: async () => true },
    tasks: { start: async () => false, wake: async () => undefined },
    runs: { start: async () => false, wake: async () => undefined },
    transfers: new TransferSlots(2),
    pdfTexts,
    documentBytes: new ByteBudget(10_000_000),
    settings: {
      pollMinMs: 10,
      pollMaxMs: 100,
      createDeadlineMs: 2_000,
      listingLagMs: 20,
      resultGraceMs: 50,
      providerLostAfterMs: 1_000,
      capacityRetryMs: 20,
      waitLimitMs: 60_000,
      capacityWaitMs: 60_000,
      shardWindow: 8,
      taskAttempts: 3,
      taskRetryMs: 20,
      documentsAtOnce: 4,
      workDirectory: path.join(tmpdir(), 'batchgate-tests'),
    },
    now: () => new Date(),
    random: () => 0.5,
    newAttemptToken: () => encodeAttemptToken(randomBytes(ATTEMPT_TOKEN_BYTES)),
    log: { info: () => undefined, warn: () => undefined },
    ...rest,
  };
}

/** Runs an activity with the context it has in a worker, within a time where one is given. */
export function runActivity<Input, Result>(
  activity: (input: Input) => Promise<Result>,
  input: Input,
  startToCloseTimeoutMs?: number,
): Promise<Result> {
  const info = startToCloseTimeoutMs === undefined ? {} : { startToCloseTimeoutMs };
  return new MockActivityEnvironment(info).run(activity, input);
}
