import type { Context } from 'hono';
import { sendDownload } from '../download.ts';
import type { Env, Route } from '../endpoint.ts';
import { fileFacts, fileView, listFiles, newFileId, requireFile, storeUpload } from './files.ts';
import { lineRewriters } from './result-lines.ts';
import type { OpenAiSimulator } from './simulator.ts';
import { receiveUpload } from './upload.ts';

/** The `/v1/files` routes (openai SDK types). */
export function fileRoutes(simulator: OpenAiSimulator) {
  const { state, clock } = simulator;
  const find = (id: string) => state.findFile(id, clock.now());

  /** Nothing is settled or looked up before the fault is chosen but what the fault may match. */
  const readId = async (context: Context<Env>) => {
    simulator.runner.settle();
    const id = context.req.param('id') ?? '';
    return { input: id, facts: fileFacts(id, find(id)) };
  };

  const create: Route<null> = {
    name: 'files.create',
    read: async () => ({ input: null, facts: {} }),
    async act({ incoming, action, note }) {
      const id = newFileId();
      const settings = simulator.options();
      const limits = { maxBytes: settings.maxFileBytes, cutAfterBytes: action.cut?.after_bytes };
      const upload = await receiveUpload(incoming, state.pathOf(id), limits);
      note({ ...upload.file, purpose: upload.fields.get('purpose'), file_id: id });
      return { status: 200, json: fileView(await storeUpload({ state, clock, settings }, id, upload)) };
    },
  };

  const list: Route<Record<string, string>> = {
    name: 'files.list',
    async read(context) {
      simulator.runner.settle();
      return { input: context.req.query(), facts: context.req.query() };
    },
    act: async ({ input }) => ({ status: 200, json: listFiles(state.files(clock.now()), input) }),
  };

  const retrieve: Route<string> = {
    name: 'files.retrieve',
    read: readId,
    act: async ({ input: id }) => ({ status: 200, json: fileView(requireFile(find(id), id)) }),
  };

  const remove: Route<string> = {
    name: 'files.delete',
    read: readId,
    async act({ input: id }) {
      state.deleteFile(requireFile(find(id), id));
      return { status: 200, json: { id, object: 'file', deleted: true } };
    },
  };

  const content: Route<string> = {
    name: 'files.content',
    read: readId,
    async act({ input: id, action }) {
      const file = requireFile(find(id), id);
      const headers = {
        'content-type': 'application/octet-stream',
        'content-disposition': `attachment; filename="${encodeURIComponent(file.filename)}"`,
      };
      const download = { path: state.pathOf(id), headers, file: file.madeBy?.file, rewriters: lineRewriters };
      return { stream: (outgoing) => sendDownload(outgoing, download, action, clock) };
    },
  };

  return { create, list, retrieve, remove, content };
}
