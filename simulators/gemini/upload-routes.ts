import type { Context } from 'hono';
import type { Env, JsonReply, Route } from '../endpoint.ts';
import { refusal } from './errors.ts';
import { fileView, newSession } from './files.ts';
import { readJson } from './read-json.ts';
import type { FileRecord } from './records.ts';
import type { GeminiSimulator } from './simulator.ts';
import { finishBytes, GRANULARITY_BYTES, receiveChunk, type UploadSession } from './upload.ts';

const MOST_BODY_BYTES = 64 * 1024;

/** The resumable upload of files: one request to start, then the bytes in chunks, the last of which finalizes. */
export function uploadRoutes(simulator: GeminiSimulator) {
  const { state, clock, uploads } = simulator;

  const start: Route<{ session: UploadSession; origin: string }> = {
    name: 'files.upload.start',
    async read(context) {
      if (!commandsOf(context).includes('start')) throw refusal('INVALID_ARGUMENT', 'The upload was not started.');
      const { body } = await readJson(context, MOST_BODY_BYTES);
      const session = newSession(simulator, context.req.raw.headers, body);
      const { displayName, declaredBytes } = session;
      const facts = { display_name: displayName, bytes: declaredBytes, file_id: `files/${session.fileId}` };
      return { input: { session, origin: originOf(context) }, facts };
    },
    async act({ input: { session, origin } }) {
      uploads.set(session.id, session);
      const headers = {
        'x-goog-upload-status': 'active',
        'x-goog-upload-url': `${origin}/upload/v1beta/files?upload_id=${session.id}&upload_protocol=resumable`,
        'x-goog-upload-chunk-granularity': String(GRANULARITY_BYTES),
      };
      return { status: 200, json: {}, headers };
    },
  };

  const finalized = async (session: UploadSession): Promise<FileRecord> => {
    if (session.file !== undefined) return session.file;
    const sha256 = await finishBytes(session);
    const createdAt = clock.now();
    const file: FileRecord = {
      id: session.fileId,
      seq: state.nextSeq(),
      bytes: session.received,
      createdAt,
      expiresAt: createdAt + simulator.options().fileLifeMs,
      displayName: session.displayName,
      mimeType: session.mimeType,
      sha256,
    };
    state.saveFile(file);
    session.file = file;
    return file;
  };
  const statusReply = (session: UploadSession): JsonReply => {
    const status = session.isCancelled ? 'cancelled' : session.file === undefined ? 'active' : 'final';
    const headers = { 'x-goog-upload-status': status, 'x-goog-upload-size-received': String(session.received) };
    return { status: 200, json: {}, headers };
  };

  const chunk: Route<{ session: UploadSession | undefined; commands: string[]; offset: number; origin: string }> = {
    name: 'files.upload.chunk',
    // The upload URL is its own credential.
    isPublic: true,
    async read(context) {
      const session = uploads.get(context.req.query('upload_id') ?? '');
      const offset = Number(context.req.header('x-goog-upload-offset'));
      const facts = { display_name: session?.displayName, file_id: session && `files/${session.fileId}`, offset };
      return { input: { session, commands: commandsOf(context), offset, origin: originOf(context) }, facts };
    },
    async act({ input: { session, commands, offset, origin }, incoming, action, note }) {
      if (session === undefined) throw refusal('NOT_FOUND', 'Requested entity was not found.');
      const isLast = commands.includes('finalize');
      if (commands.includes('cancel')) session.isCancelled = true;
      if (session.isCancelled || commands.includes('query')) return statusReply(session);
      if (commands.includes('upload')) {
        if (!Number.isInteger(offset)) throw refusal('INVALID_ARGUMENT', 'X-Goog-Upload-Offset is missing.');
        await receiveChunk(session, incoming, { offset, isLast, cutAfterBytes: action.cut?.after_bytes });
      }
      if (!isLast) return statusReply(session);
      const file = await finalized(session);
      note({ bytes: file.bytes, lines: session.lines });
      return { ...statusReply(session), json: { file: fileView(file, origin) } };
    },
  };

  return { start, chunk };
}

/** The origin this request was sent to. */
export function originOf(context: Context<Env>): string {
  return new URL(context.req.url).origin;
}

function commandsOf(context: Context<Env>): string[] {
  return (context.req.header('x-goog-upload-command') ?? '').split(',').map((command) => command.trim());
}
