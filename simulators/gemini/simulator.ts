import { join } from 'node:path';
import { z } from 'zod';
import { createBackground } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import type { Clock } from '../clock.ts';
import type { FaultAction } from '../fault-actions.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import type { SimulatedProvider } from '../provider.ts';
import { standardTarget } from '../standard-webhooks.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import { createWorkQueue } from '../work-queue.ts';
import { createBatchWork } from './batch-work.ts';
import { GEMINI_FAULT_ROUTES } from './fault-routes.ts';
import { type OperationParts, operationText } from './operation.ts';
import { type BatchRecord, createState, idOf, type State } from './records.ts';
import { createRunner, type Runner } from './runner.ts';
import { GeminiSettings, type GeminiSettingsChange } from './settings.ts';
import type { UploadSession } from './upload.ts';
import { announceEnd } from './webhook.ts';
import { createTokenSigner, type TokenSigner } from './webhook-token.ts';

const GIVE_UP_AFTER_MS = 24 * 3_600_000;

/** One instance: its files and batches, what moves them, and its settings. */
export interface GeminiSimulator extends SimulatedProvider {
  clock: Clock;
  state: State;
  runner: Runner;
  signer: TokenSigner;
  /** Uploads by id; a restart forgets those under way. */
  uploads: Map<string, UploadSession>;
  options(): GeminiSettings;
  /** A batch as the JSON text of an operation. */
  view(batch: BatchRecord, shown: { action?: FaultAction; output: OperationParts['output'] }): string;
  /** Takes up a new batch. */
  take(batch: BatchRecord): void;
  /** Resolves when the input of a batch was read. */
  whenRead(batch: BatchRecord): Promise<void>;
  /** Runs creates one after the other. */
  oneByOne<T>(work: () => Promise<T>): Promise<T>;
  stop(): Promise<void>;
}

/** Resumes what an earlier run left in `folder`; resolves when its running batches go on. */
export async function createGeminiSimulator(parts: {
  folder: string;
  clock: Clock;
  faults: Faults;
  journal: Journal;
  settings: GeminiSettingsChange;
  log: (message: string) => void;
}): Promise<GeminiSimulator> {
  const { clock, faults, journal, log, folder } = parts;
  const initial = GeminiSettings.parse(parts.settings);
  let settings = initial;
  const options = () => settings;
  const state = createState(folder);
  const signer = createTokenSigner(join(folder, 'webhook-key.pem'));
  const uploads = new Map<string, UploadSession>();
  const reading = new Map<string, Promise<void>>();
  const sender = createWebhookSender({
    provider: 'gemini',
    clock,
    faults,
    journal,
    giveUpAfterMs: GIVE_UP_AFTER_MS,
    target() {
      const { webhookUrl: url, webhookSecret: secret, webhookRetryBaseMs: retryBaseMs } = settings;
      return url === null || secret === null ? undefined : standardTarget({ url, secret, retryBaseMs });
    },
  });
  const runner = createRunner({
    state,
    clock,
    settings: options,
    work: createBatchWork({ state, faults, settings: options }),
    background: createBackground(log),
    onEnd(batch) {
      reading.delete(batch.id);
      announceEnd({ sender, signer, settings }, batch, clock.now());
    },
  });
  const take = (batch: BatchRecord) => {
    const read = runner.take(batch);
    reading.set(batch.id, read);
    return read;
  };
  const view: GeminiSimulator['view'] = (batch, { action = {}, output }) =>
    operationText(batch, { counts: runner.counts(batch), now: clock.now(), output, action });
  const viewWithoutOutput = (batch: BatchRecord): unknown => JSON.parse(view(batch, { output: undefined }));
  await Promise.all(
    state
      .batches()
      .filter((batch) => !isTerminal(batch.status))
      .map(take),
  );

  return {
    name: 'gemini',
    faultRoutes: GEMINI_FAULT_ROUTES,
    clock,
    state,
    runner,
    signer,
    uploads,
    options,
    view,
    take: (batch) => void take(batch),
    whenRead: async (batch) => reading.get(batch.id),
    oneByOne: createWorkQueue(1),
    settings: options,
    changeSettings(change) {
      settings = GeminiSettings.parse({ ...settings, ...z.record(z.string(), z.unknown()).parse(change) });
      runner.settle();
    },
    listBatches() {
      runner.settle();
      return state.batches().toReversed().map(viewWithoutOutput);
    },
    changeBatch(name, change) {
      runner.settle();
      const batch = state.findBatch(idOf(name, 'batches'));
      if (batch === undefined) return undefined;
      const { end_state: end, cancel, stuck, ...rest } = change;
      batch.script = { ...batch.script, ...rest, ...(stuck === undefined ? {} : { stuck: stuck ?? undefined }) };
      state.saveBatch(batch);
      if (cancel) runner.cancel(batch);
      if (end !== undefined) runner.force(batch, end);
      runner.settle();
      return viewWithoutOutput(batch);
    },
    async reset() {
      await runner.stop();
      sender.forget();
      state.clear();
      uploads.clear();
      settings = initial;
    },
    async stop() {
      sender.forget();
      await runner.stop();
    },
  };
}
