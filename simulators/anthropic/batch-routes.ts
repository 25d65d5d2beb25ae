import { rmSync } from 'node:fs';
import type { Context } from 'hono';
import { sendDownload } from '../download.ts';
import type { Env, Route } from '../endpoint.ts';
import { newId } from '../state.ts';
import {
  batchFacts,
  listBatches,
  newBatch,
  refuseCancel,
  refuseDelete,
  refuseOverfull,
  requireBatch,
} from './batches.ts';
import { notFound } from './errors.ts';
import { hangs, readItem } from './item.ts';
import { type ReceivedBatch, receiveBatch } from './receive-batch.ts';
import { lineRewriters } from './result-lines.ts';
import { distorted } from './shown-batch.ts';
import type { AnthropicSimulator } from './simulator.ts';
import { API_VERSIONS, type ApiVersion, versionOf } from './versions.ts';

interface Received extends ReceivedBatch {
  id: string;
  version: ApiVersion;
  inputFileId: string;
}

/** The `/v1/messages/batches` routes (@anthropic-ai/sdk types; Anthropic Message Batches docs). */
export function batchRoutes(simulator: AnthropicSimulator) {
  const { state, clock, runner, view, options } = simulator;

  const readId = async (context: Context<Env>) => {
    runner.settle();
    const id = context.req.param('id') ?? '';
    return { input: id, facts: batchFacts(state.findBatch(id), id) };
  };
  // A scripted delay may have passed since the call was read.
  const settled = (id: string) => {
    runner.settle();
    return requireBatch(state.findBatch(id), id);
  };

  const create: Route<Received> = {
    name: 'batches.create',
    async read(context) {
      const version = versionOf(context.req.raw.headers) ?? API_VERSIONS[0];
      const call = { attempt: newId('msgbatch_'), version, isBatch: true };
      const inputFileId = newId('requests_');
      const received = await receiveBatch(context.env.incoming, state.pathOf(inputFileId), {
        ...options(),
        hangs: async (params) => hangs((await readItem(params, call, state.attempts)).item),
      });
      const { items, bytes, firstCustomId } = received;
      const facts = { items, bytes, first_custom_id: firstCustomId };
      return { input: { ...received, id: call.attempt, version, inputFileId }, facts };
    },
    async act({ context, input, action, note }) {
      runner.settle();
      const now = clock.now();
      refuseOverfull(input.items, state.batches(), options());
      const at = { id: input.id, seq: state.nextSeq(), now };
      const origin = originOf(context);
      const batch = newBatch({ ...input, origin }, at, options(), action);
      const { inputFileId: id, bytes } = input;
      state.saveFile({ id, seq: state.nextSeq(), bytes, createdAt: now, expiresAt: batch.archivesAt });
      state.saveBatch(batch);
      note({ batch_id: batch.id });
      await runner.take(batch);
      return { status: 200, json: distorted(view(batch, origin), action) };
    },
    release({ inputFileId }) {
      const isTaken = state.findFile(inputFileId, clock.now()) !== undefined;
      if (!isTaken) rmSync(state.pathOf(inputFileId), { force: true });
    },
  };

  const retrieve: Route<string> = {
    name: 'batches.retrieve',
    read: readId,
    act: async ({ context, input: id, action }) => ({
      status: 200,
      json: distorted(view(settled(id), originOf(context)), action),
    }),
  };

  const cancel: Route<string> = {
    name: 'batches.cancel',
    read: readId,
    async act({ context, input: id, action }) {
      const batch = settled(id);
      refuseCancel(batch, options());
      runner.cancel(batch);
      return { status: 200, json: distorted(view(batch, originOf(context)), action) };
    },
  };

  const list: Route<Record<string, string>> = {
    name: 'batches.list',
    read: async (context) => ({ input: context.req.query(), facts: context.req.query() }),
    async act({ context, input, action }) {
      runner.settle();
      const origin = originOf(context);
      const page = listBatches(state.batches(), clock.now(), input, (each) => distorted(view(each, origin), action));
      return { status: 200, json: page };
    },
  };

  const remove: Route<string> = {
    name: 'batches.delete',
    read: readId,
    async act({ input: id }) {
      const batch = settled(id);
      refuseDelete(batch);
      const file = state.findFile(batch.result?.fileId ?? '', clock.now());
      if (file !== undefined) state.deleteFile(file);
      state.deleteBatch(batch);
      return { status: 200, json: { id, type: 'message_batch_deleted' } };
    },
  };

  const results: Route<string> = {
    name: 'batches.results',
    read: readId,
    async act({ input: id, action }) {
      const file = state.findFile(settled(id).result?.fileId ?? '', clock.now());
      if (file === undefined) throw notFound(`Message Batch ${id} has no results available.`);
      const headers = { 'content-type': 'application/x-jsonl' };
      const download = { path: state.pathOf(file.id), headers, file: 'output', rewriters: lineRewriters } as const;
      return { stream: (outgoing) => sendDownload(outgoing, download, action, clock) };
    },
  };

  return { create, retrieve, cancel, list, remove, results };
}

/** Where this request was sent, as its sender names it. */
function originOf(context: Context<Env>): string {
  return new URL(context.req.url).origin;
}
