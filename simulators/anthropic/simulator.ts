import { z } from 'zod';
import { createBackground } from '../background.ts';
import { isTerminal } from '../batch-record.ts';
import type { Clock } from '../clock.ts';
import type { Faults } from '../faults.ts';
import type { Journal } from '../journal.ts';
import type { SimulatedProvider } from '../provider.ts';
import { createBatchWork } from './batch-work.ts';
import { ANTHROPIC_FAULT_ROUTES } from './fault-routes.ts';
import type { BatchRecord } from './records.ts';
import { createRunner, ownEndState, type Runner } from './runner.ts';
import { AnthropicSettings, type AnthropicSettingsChange } from './settings.ts';
import { type BatchView, batchView } from './shown-batch.ts';
import { createState, type State } from './state.ts';

/** One instance: its batches, what moves them, and its settings. */
export interface AnthropicSimulator extends SimulatedProvider {
  clock: Clock;
  state: State;
  runner: Runner;
  options(): AnthropicSettings;
  view(batch: BatchRecord, origin: string): BatchView;
  stop(): Promise<void>;
}

/** Resumes what an earlier run left in `folder`; resolves when its running batches go on. */
export async function createAnthropicSimulator(parts: {
  folder: string;
  clock: Clock;
  faults: Faults;
  journal: Journal;
  settings: AnthropicSettingsChange;
  log: (message: string) => void;
}): Promise<AnthropicSimulator> {
  const { clock, faults, log } = parts;
  const initial = AnthropicSettings.parse(parts.settings);
  let settings = initial;
  const options = () => settings;
  const state = createState(parts.folder);
  const runner = createRunner({
    state,
    clock,
    settings: options,
    work: createBatchWork({ state, faults, settings: options }),
    background: createBackground(log),
  });
  const view = (batch: BatchRecord, origin: string) => batchView(batch, clock.now(), origin);
  const running = state.batches().filter((batch) => !isTerminal(batch.status));
  await Promise.all(running.map((batch) => runner.take(batch)));

  return {
    name: 'anthropic',
    faultRoutes: ANTHROPIC_FAULT_ROUTES,
    clock,
    state,
    runner,
    options,
    view,
    settings: options,
    changeSettings(change) {
      settings = AnthropicSettings.parse({ ...settings, ...z.record(z.string(), z.unknown()).parse(change) });
      runner.settle();
    },
    listBatches() {
      runner.settle();
      return state
        .batches()
        .toReversed()
        .map((batch) => view(batch, batch.origin));
    },
    changeBatch(id, change) {
      runner.settle();
      const batch = state.findBatch(id);
      if (batch === undefined) return undefined;
      const { end_state: end, cancel, stuck, ...rest } = change;
      batch.script = { ...batch.script, ...rest, ...(stuck === undefined ? {} : { stuck: stuck ?? undefined }) };
      state.saveBatch(batch);
      if (cancel) runner.cancel(batch);
      if (end !== undefined) runner.force(batch, ownEndState(end));
      runner.settle();
      return view(batch, batch.origin);
    },
    async reset() {
      await runner.stop();
      state.clear();
      settings = initial;
    },
    stop: () => runner.stop(),
  };
}
