import { readFile } from 'node:fs/promises';
import type { Context } from 'hono';
import type { Env, JsonReply, Route } from '../endpoint.ts';
import type { FaultAction } from '../fault-actions.ts';
import { batchFacts } from './batch-work.ts';
import type { BatchCreate } from './batches.ts';
import { readCreate, requestedFile, requireBatch } from './batches.ts';
import { createBatch } from './create-batch.ts';
import { type ModelTask, requireModel } from './models.ts';
import { stateOf } from './operation.ts';
import { pageOf } from './page.ts';
import { readJson } from './read-json.ts';
import { type BatchRecord, idOf } from './records.ts';
import type { GeminiSimulator } from './simulator.ts';
import { targetOf } from './verbs.ts';

const PAGE_SIZES = { usual: 100, most: 1_000 };

/** The routes of batches (Gemini API docs, Batch API; @google/genai SDK as it speaks to them). */
export function batchRoutes(simulator: GeminiSimulator) {
  const { state, clock, runner } = simulator;

  const find = (context: Context<Env>) => {
    runner.settle();
    const name = `batches/${targetOf(context)}`;
    const batch = state.findBatch(idOf(name, 'batches'));
    const facts = batch === undefined ? { batch_id: name } : { ...batchFacts(batch), batch_status: stateOf(batch) };
    return { input: idOf(name, 'batches'), facts };
  };

  const view = async (batch: BatchRecord, action: FaultAction): Promise<JsonReply> => {
    const json = simulator.view(batch, { action, output: await outputOf(batch) });
    return { status: 200, json };
  };
  const outputOf = async ({ result, destination }: BatchRecord) => {
    if (result === undefined || result.outputFileId === null) return undefined;
    if (destination === 'file') return { responsesFile: `files/${result.outputFileId}` };
    const text = await readFile(state.pathOf(result.outputFileId), 'utf8');
    return { inlined: text.split('\n').filter(Boolean) };
  };

  const create = (task: ModelTask, method: string): Route<BatchCreate & { bytes: number }> => ({
    name: 'batches.create',
    async read(context) {
      runner.settle();
      const { body, bytes } = await readJson(context, simulator.options().maxInlineBytes);
      const model = requireModel(targetOf(context), task, method);
      const input = { ...readCreate(body, { task, model }), bytes };
      const file = requestedFile(input);
      const lines = 'requests' in input.input ? input.input.requests.length : undefined;
      const facts = { model, display_name: input.displayName, input_file_id: file && `files/${file}`, bytes, lines };
      return { input, facts };
    },
    async act({ input, action, note }) {
      const batch = await createBatch(simulator, input, action);
      note({ batch_id: `batches/${batch.id}` });
      return view(batch, action);
    },
  });

  const retrieve: Route<string> = {
    name: 'batches.retrieve',
    read: async (context) => find(context),
    async act({ input: id, action }) {
      // A scripted delay may have passed since the call was read.
      runner.settle();
      return view(requireBatch(state.findBatch(id)), action);
    },
  };

  const cancel: Route<string> = {
    name: 'batches.cancel',
    read: async (context) => find(context),
    async act({ input: id }) {
      runner.settle();
      runner.cancel(requireBatch(state.findBatch(id)));
      return { status: 200, json: {} };
    },
  };

  const remove: Route<string> = {
    name: 'batches.delete',
    read: async (context) => find(context),
    async act({ input: id }) {
      const batch = requireBatch(state.findBatch(id));
      batch.isDeleted = true;
      state.saveBatch(batch);
      return { status: 200, json: {} };
    },
  };

  const list: Route<Record<string, string>> = {
    name: 'batches.list',
    read: async (context) => ({ input: context.req.query(), facts: pageFacts(context.req.query()) }),
    async act({ input, action }) {
      runner.settle();
      const now = clock.now();
      const listed = state
        .batches()
        .filter((batch) => !batch.isDeleted && now >= batch.createdAt + (batch.script.list_lag_ms ?? 0))
        .toReversed();
      const { items, nextPageToken } = pageOf(listed, input, PAGE_SIZES);
      const operations = items.map((batch) => JSON.parse(simulator.view(batch, { action, output: undefined })));
      return { status: 200, json: { ...(operations.length > 0 && { operations }), nextPageToken } };
    },
  };

  return { create, retrieve, cancel, remove, list };
}

/** The query without the key. */
export function pageFacts({ key: _key, ...facts }: Record<string, string>): Record<string, string> {
  return facts;
}
