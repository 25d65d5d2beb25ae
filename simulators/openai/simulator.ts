import { z } from 'zod';
import { createBackground } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import type { SimulatedProvider } from '../provider.ts';
import { standardTarget } from '../standard-webhooks.ts';
import { createWebhookSender } from '../webhook-sender.ts';
import { createBatchWork } from './batch-work.ts';
import { type BatchView, batchView } from './batches.ts';
import { OPENAI_FAULT_ROUTES } from './fault-routes.ts';
import type { BatchRecord } from './records.ts';
import { createRunner, type Runner } from './runner.ts';
import { OpenAiSettings, type OpenAiSettingsChange } from './settings.ts';
import { createState, type State } from './state.ts';
import { announceEnd } from './webhook.ts';

const GIVE_UP_AFTER_MS = 72 * 3_600_000;

/** One instance: its files and batches, what moves them, and its settings. */
export interface OpenAiSimulator extends SimulatedProvider {
  clock: Clock;
  state: State;
  runner: Runner;
  options(): OpenAiSettings;
  view(batch: BatchRecord): BatchView;
  stop(): Promise<void>;
}

/** Resumes what an earlier run left in `folder`; resolves when its running batches go on. */
export async function createOpenAiSimulator(parts: {
  folder: string;
  clock: Clock;
  faults: Faults;
  journal: Journal;
  settings: OpenAiSettingsChange;
  log: (message: string) => void;
}): Promise<OpenAiSimulator> {
  const { clock, faults, journal, log } = parts;
  const initial = OpenAiSettings.parse(parts.settings);
  let settings = initial;
  const options = () => settings;
  const state = createState(parts.folder);
  const sender = createWebhookSender({
    provider: 'openai',
    clock,
    faults,
    journal,
    target() {
      const { webhookUrl: url, webhookSecret: secret, webhookRetryBaseMs: retryBaseMs } = settings;
      return url === null || secret === null ? undefined : standardTarget({ url, secret, retryBaseMs });
    },
    giveUpAfterMs: GIVE_UP_AFTER_MS,
  });
  const runner = createRunner({
    state,
    clock,
    settings: options,
    work: createBatchWork({ state, faults, settings: options }),
    background: createBackground(log),
    onEnd: (batch) => announceEnd(sender, batch, clock.now()),
  });
  const view = (batch: BatchRecord) => batchView(batch, runner.counts(batch));
  await Promise.all(
    state
      .batches()
      .filter((batch) => !isTerminal(batch.status))
      .map((batch) => runner.take(batch)),
  );

  return {
    name: 'openai',
    faultRoutes: OPENAI_FAULT_ROUTES,
    clock,
    state,
    runner,
    options,
    view,
    settings: options,
    changeSettings(change) {
      settings = OpenAiSettings.parse({ ...settings, ...z.record(z.string(), z.unknown()).parse(change) });
      runner.settle();
    },
    listBatches() {
      runner.settle();
      return state.batches().toReversed().map(view);
    },
    changeBatch(id, change) {
      runner.settle();
      const batch = state.findBatch(id);
      if (batch === undefined) return undefined;
      const { end_state: end, cancel, stuck, ...rest } = change;
      batch.script = { ...batch.script, ...rest, ...(stuck === undefined ? {} : { stuck: stuck ?? undefined }) };
      state.saveBatch(batch);
      if (cancel) runner.cancel(batch);
      if (end !== undefined) runner.force(batch, end);
      runner.settle();
      return view(batch);
    },
    async reset() {
      await runner.stop();
      sender.forget();
      state.clear();
      settings = initial;
    },
    async stop() {
      sender.forget();
      await runner.stop();
    },
  };
}
