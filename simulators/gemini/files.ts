import { Refusal } from '../endpoint.ts';
import type { Facts } from '../journal.ts';
import { newId } from '../state.ts';
import { errorOfStatus, refusal } from './errors.ts';
import { time } from './operation.ts';
import { isObject, type JsonObject } from './proto-json.ts';
import { type FileRecord, idOf } from './records.ts';
import type { GeminiSimulator } from './simulator.ts';
import type { UploadSession } from './upload.ts';

const FILE_ID = /^[a-z0-9](?:[a-z0-9-]{0,38}[a-z0-9])?$/;
const LONGEST_DISPLAY_NAME = 512;

/** A file as the API shows it (@google/genai SDK types); `origin` is the API's own. */
export function fileView(file: FileRecord, origin: string) {
  const name = `files/${file.id}`;
  return {
    name,
    displayName: file.displayName,
    mimeType: file.mimeType,
    sizeBytes: String(file.bytes),
    createTime: time(file.createdAt),
    updateTime: time(file.createdAt),
    expirationTime: time(file.expiresAt),
    // What is encoded is the hexadecimal text, not the digest itself.
    ...(file.sha256 !== '' && { sha256Hash: Buffer.from(file.sha256).toString('base64') }),
    uri: `${origin}/v1beta/${name}`,
    ...(file.madeBy !== undefined && { downloadUri: `${origin}/v1beta/${name}:download?alt=media` }),
    state: 'ACTIVE',
    source: file.madeBy === undefined ? 'UPLOADED' : 'GENERATED',
  };
}

/** What a fault on a file can be matched by. */
export function fileFacts(id: string, file: FileRecord | undefined): Facts {
  return {
    file_id: `files/${id}`,
    display_name: file?.displayName,
    batch_id: file?.madeBy && `batches/${file.madeBy}`,
    kind: file?.madeBy === undefined ? 'input' : 'output',
  };
}

/** A file that is there for the API. */
export function findFile({ state, clock }: GeminiSimulator, id: string): FileRecord | undefined {
  const file = state.findFile(id, clock.now());
  return file?.isInternal ? undefined : file;
}

export function requireFile(simulator: GeminiSimulator, id: string): FileRecord {
  const file = findFile(simulator, id);
  if (file !== undefined) return file;
  const { missingFileStatus } = simulator.options();
  if (missingFileStatus === 404) throw new Refusal(errorOfStatus(404));
  const message = `You do not have permission to access the File ${id} or it may not exist.`;
  throw refusal('PERMISSION_DENIED', message);
}

/** Begins an upload from the headers and the body of its first request (Gemini API docs, files). */
export function newSession(simulator: GeminiSimulator, headers: Headers, body: JsonObject): UploadSession {
  const file = isObject(body['file']) ? body['file'] : {};
  const { state } = simulator;
  const { maxFileBytes } = simulator.options();
  const declaredBytes = Number(headers.get('x-goog-upload-header-content-length') ?? file['sizeBytes']);
  const mimeType = headers.get('x-goog-upload-header-content-type') ?? file['mimeType'];
  if (headers.get('x-goog-upload-protocol') !== 'resumable') {
    throw refusal('INVALID_ARGUMENT', 'This simulator takes resumable uploads only.');
  }
  if (!Number.isInteger(declaredBytes) || declaredBytes < 0) {
    throw refusal('INVALID_ARGUMENT', 'X-Goog-Upload-Header-Content-Length must be the size of the file.');
  }
  if (declaredBytes > maxFileBytes) {
    throw refusal('INVALID_ARGUMENT', `The file exceeds the limit of ${maxFileBytes} bytes.`);
  }
  const fileId = chosenId(simulator, file['name'] ?? undefined);
  const displayName = file['displayName'] ?? file['display_name'];
  if (typeof displayName === 'string' && displayName.length > LONGEST_DISPLAY_NAME) {
    throw refusal(
      'INVALID_ARGUMENT',
      `* CreateFileRequest.file.display_name: at most ${LONGEST_DISPLAY_NAME} characters.`,
    );
  }
  return {
    id: newId(''),
    fileId,
    path: state.pathOf(fileId),
    declaredBytes,
    mimeType: typeof mimeType === 'string' ? mimeType : 'application/octet-stream',
    displayName: typeof displayName === 'string' ? displayName : undefined,
    received: 0,
    lines: 0,
    isCancelled: false,
  };
}

function chosenId(simulator: GeminiSimulator, name: unknown): string {
  if (name === undefined) return newId('').slice(0, 12);
  const id = idOf(String(name), 'files');
  if (!FILE_ID.test(id)) {
    throw refusal(
      'INVALID_ARGUMENT',
      '* CreateFileRequest.file.name: at most 40 lower-case letters, digits and dashes.',
    );
  }
  if (findFile(simulator, id) !== undefined) throw refusal('ALREADY_EXISTS', 'Requested entity already exists.');
  return id;
}
