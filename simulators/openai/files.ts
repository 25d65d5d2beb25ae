import { rm } from 'node:fs/promises';
import { z } from 'zod';
import type { Clock } from '../clock.ts';
import type { Facts } from '../journal.ts';
import { newId } from '../state.ts';
import { invalidRequest, notFound } from './errors.ts';
import { pageOf } from './page.ts';
import type { FileRecord } from './records.ts';
import type { OpenAiSettings } from './settings.ts';
import type { State } from './state.ts';
import type { Upload } from './upload.ts';

const PURPOSES = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'];
const Seconds = z.coerce.number().int().min(3_600).max(2_592_000);
const MOST_LISTED = 10_000;

/** A file as the API shows it (openai SDK types). */
export function fileView(file: FileRecord) {
  return {
    id: file.id,
    object: 'file',
    bytes: file.bytes,
    created_at: Math.floor(file.createdAt / 1000),
    expires_at: Math.floor(file.expiresAt / 1000),
    filename: file.filename,
    purpose: file.purpose,
    status: 'processed',
    status_details: null,
  };
}

/** What a fault on a file can be matched by. */
export function fileFacts(id: string, file: FileRecord | undefined): Facts {
  return {
    file_id: id,
    purpose: file?.purpose,
    batch_id: file?.madeBy?.batchId,
    kind: file?.madeBy?.file ?? 'input',
  };
}

export function requireFile(file: FileRecord | undefined, id: string): FileRecord {
  if (file === undefined) throw notFound(`No such File object: ${id}`, 'id');
  return file;
}

/** Keeps an upload whose bytes are already at their place, or removes them again and refuses. */
export async function storeUpload(
  parts: { state: State; clock: Clock; settings: OpenAiSettings },
  id: string,
  { fields, file }: Upload,
): Promise<FileRecord> {
  const { state, clock, settings } = parts;
  const purpose = fields.get('purpose');
  try {
    if (file === undefined) throw invalidRequest("'file' is a required property", 'file');
    if (purpose === undefined) throw invalidRequest("'purpose' is a required property", 'purpose');
    if (!PURPOSES.includes(purpose)) throw invalidRequest(`'${purpose}' is not one of ${PURPOSES}`, 'purpose');
    if (purpose === 'batch' && !file.filename.endsWith('.jsonl')) {
      throw invalidRequest('Invalid file format for Batch API. Must be .jsonl', 'file', 'invalid_file_format');
    }
    const createdAt = clock.now();
    const record: FileRecord = {
      id,
      seq: state.nextSeq(),
      bytes: file.bytes,
      createdAt,
      expiresAt: createdAt + (chosenLifeMs(fields) ?? settings.fileLifeMs),
      filename: file.filename,
      purpose,
    };
    state.saveFile(record);
    return record;
  } catch (error) {
    await rm(state.pathOf(id), { force: true });
    throw error;
  }
}

/** `GET /v1/files`: filtered by purpose, newest first unless `order=asc`. */
export function listFiles(files: readonly FileRecord[], query: Record<string, string>) {
  const { purpose, order = 'desc' } = query;
  const wanted = files.filter((file) => purpose === undefined || file.purpose === purpose);
  return pageOf((order === 'asc' ? wanted : wanted.toReversed()).map(fileView), query, MOST_LISTED, MOST_LISTED);
}

export function newFileId(): string {
  return newId('file-');
}

function chosenLifeMs(fields: ReadonlyMap<string, string>): number | undefined {
  const anchor = fields.get('expires_after[anchor]');
  const seconds = fields.get('expires_after[seconds]');
  if (anchor === undefined && seconds === undefined) return undefined;
  if (anchor !== 'created_at') throw invalidRequest("'anchor' must be 'created_at'", 'expires_after[anchor]');
  const chosen = Seconds.safeParse(seconds);
  if (!chosen.success) {
    throw invalidRequest("'seconds' must be between 3600 and 2592000", 'expires_after[seconds]');
  }
  return chosen.data * 1000;
}
