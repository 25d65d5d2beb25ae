import type { Context } from 'hono';
import type { Env, Route } from '../endpoint.ts';
import { newId } from '../state.ts';
import {
  type BatchCreate,
  batchFacts,
  distorted,
  listBatches,
  newBatch,
  parseCreate,
  refuseCancel,
  requireBatch,
  requireInputFile,
} from './batches.ts';
import { readJson } from './read-json.ts';
import type { OpenAiSimulator } from './simulator.ts';

/** The `/v1/batches` routes (openai SDK types). */
export function batchRoutes(simulator: OpenAiSimulator) {
  const { state, clock, runner, view } = simulator;

  const readId = async (context: Context<Env>) => {
    runner.settle();
    const id = context.req.param('id') ?? '';
    return { input: id, facts: batchFacts(state.findBatch(id), id) };
  };

  const create: Route<BatchCreate> = {
    name: 'batches.create',
    async read(context) {
      runner.settle();
      const input = parseCreate(await readJson(context));
      const { input_file_id, endpoint, metadata = null } = input;
      return { input, facts: { input_file_id, endpoint, metadata } };
    },
    async act({ input, action, note }) {
      const now = clock.now();
      requireInputFile(state.findFile(input.input_file_id, now), input.input_file_id);
      const at = { id: newId('batch_'), seq: state.nextSeq(), now };
      const batch = newBatch(input, at, simulator.options(), action);
      state.saveBatch(batch);
      note({ batch_id: batch.id });
      void runner.take(batch);
      return { status: 200, json: distorted(view(batch), action) };
    },
  };

  const retrieve: Route<string> = {
    name: 'batches.retrieve',
    read: readId,
    async act({ input: id, action }) {
      // A scripted delay may have passed since the call was read.
      runner.settle();
      return { status: 200, json: distorted(view(requireBatch(state.findBatch(id), id)), action) };
    },
  };

  const cancel: Route<string> = {
    name: 'batches.cancel',
    read: readId,
    async act({ input: id, action }) {
      runner.settle();
      const batch = requireBatch(state.findBatch(id), id);
      refuseCancel(batch, simulator.options());
      runner.cancel(batch);
      return { status: 200, json: distorted(view(batch), action) };
    },
  };

  const list: Route<Record<string, string>> = {
    name: 'batches.list',
    async read(context) {
      return { input: context.req.query(), facts: context.req.query() };
    },
    async act({ input, action }) {
      runner.settle();
      const page = listBatches(state.batches(), clock.now(), input, (batch) => distorted(view(batch), action));
      return { status: 200, json: page };
    },
  };

  return { create, retrieve, cancel, list };
}
