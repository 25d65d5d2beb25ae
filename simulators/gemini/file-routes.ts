import type { Context } from 'hono';
import { sendDownload } from '../download.ts';
import type { Env, Route } from '../endpoint.ts';
import { pageFacts } from './batch-routes.ts';
import { refusal } from './errors.ts';
import { fileFacts, fileView, findFile, requireFile } from './files.ts';
import { pageOf } from './page.ts';
import { lineRewriters } from './result-lines.ts';
import type { GeminiSimulator } from './simulator.ts';
import { originOf } from './upload-routes.ts';
import { targetOf } from './verbs.ts';

const PAGE_SIZES = { usual: 10, most: 100 };

interface Named {
  id: string;
  origin: string;
}

/** The routes of files once they are there (Gemini API reference, files). */
export function fileRoutes(simulator: GeminiSimulator) {
  const { state, clock, runner } = simulator;

  const readName = async (context: Context<Env>) => {
    runner.settle();
    const id = targetOf(context);
    return { input: { id, origin: originOf(context) }, facts: fileFacts(id, findFile(simulator, id)) };
  };

  const get: Route<Named> = {
    name: 'files.get',
    read: readName,
    act: async ({ input: { id, origin } }) => ({ status: 200, json: fileView(requireFile(simulator, id), origin) }),
  };

  const list: Route<{ query: Record<string, string>; origin: string }> = {
    name: 'files.list',
    async read(context) {
      runner.settle();
      const query = context.req.query();
      return { input: { query, origin: originOf(context) }, facts: pageFacts(query) };
    },
    async act({ input: { query, origin } }) {
      const uploaded = state.files(clock.now()).filter((file) => !file.isInternal && file.madeBy === undefined);
      const { items, nextPageToken } = pageOf(uploaded.toReversed(), query, PAGE_SIZES);
      const files = items.map((file) => fileView(file, origin));
      return { status: 200, json: { ...(files.length > 0 && { files }), nextPageToken } };
    },
  };

  const remove: Route<Named> = {
    name: 'files.delete',
    read: readName,
    async act({ input: { id } }) {
      state.deleteFile(requireFile(simulator, id));
      return { status: 200, json: {} };
    },
  };

  const download: Route<Named> = {
    name: 'files.download',
    read: readName,
    async act({ input: { id }, action, context }) {
      const file = requireFile(simulator, id);
      if (file.madeBy === undefined) {
        throw refusal('INVALID_ARGUMENT', 'Only files that the API has generated can be downloaded.');
      }
      if (context.req.query('alt') !== 'media') return { status: 200, json: {} };
      const headers = { 'content-type': file.mimeType };
      const content = { path: state.pathOf(id), headers, file: 'output' as const, rewriters: lineRewriters };
      return { stream: (outgoing) => sendDownload(outgoing, content, action, clock) };
    },
  };

  return { get, list, remove, download };
}
