import { isUtf8 } from 'node:buffer';
import { rm } from 'node:fs/promises';
import type { IncomingMessage } from 'node:http';
import type { Refusal } from '../endpoint.ts';
import { createLineWriter } from '../line-writer.ts';
import { createBodyScanner, type Found } from './body-scanner.ts';
import { invalidRequest, refusal } from './errors.ts';
import type { Params } from './prompt.ts';
import { type BatchRequest, createRequestReader } from './requests.ts';

const LINE_END = /[\r\n]/g;

/** What a create asked for; its requests lie in a file, one JSON line each. */
export interface ReceivedBatch {
  items: number;
  /** How many of them end by themselves; the others hang until the batch expires. */
  ends: number;
  /** Of the whole body. */
  bytes: number;
  firstCustomId: string;
}

/**
 * Reads the body of a create as it comes in and writes its requests to `path`, one at a time in memory. Throws the
 * refusal of what create checks: size, JSON, ids and their number. A refused body is still read to its end, so that the
 * client hears why; nothing stays at `path` then.
 */
export async function receiveBatch(
  incoming: IncomingMessage,
  path: string,
  checks: { maxBytes: number; maxItems: number; hangs: (params: Params) => Promise<boolean> },
): Promise<ReceivedBatch> {
  const writer = createLineWriter(path);
  const scanner = createBodyScanner('requests');
  const reader = createRequestReader(checks.maxItems);
  const received: ReceivedBatch = { items: 0, ends: 0, bytes: 0, firstCustomId: '' };
  let refused: unknown;

  const keep = async ({ custom_id: customId, params }: BatchRequest, text: string) => {
    if (received.items === 0) received.firstCustomId = customId;
    received.items += 1;
    if (!(await checks.hangs(params))) received.ends += 1;
    // Between the values of valid JSON a line end is only space.
    writer.write(text.replaceAll(LINE_END, ' '));
  };
  const take = async (chunk: Buffer) => {
    for (const found of scanner.push(chunk)) {
      const { value, text } = parsed(found);
      const request = reader.read(found, value);
      if (request !== undefined) await keep(request, text);
    }
    await writer.flush();
  };

  try {
    for await (const chunk of incoming.iterator({ destroyOnReturn: false })) {
      received.bytes += chunk.length;
      if (received.bytes > checks.maxBytes) refused ??= tooLarge();
      if (refused === undefined) await take(chunk).catch((error: unknown) => (refused = error));
    }
    if (refused !== undefined) throw refused;
    scanner.end();
    reader.end();
    await writer.close();
    return received;
  } catch (error) {
    await writer.close();
    await rm(path, { force: true });
    throw error instanceof SyntaxError || !incoming.complete ? unreadable() : error;
  }
}

function parsed(found: Found): { value: unknown; text: string } {
  if (found.kind === 'list') return { value: undefined, text: '' };
  if (!isUtf8(found.bytes)) throw new SyntaxError('the body is not UTF-8');
  const text = found.bytes.toString();
  return { value: JSON.parse(text), text };
}

function unreadable(): Refusal {
  return invalidRequest('The request body is not valid JSON.');
}

function tooLarge(): Refusal {
  return refusal({ status: 413, type: 'request_too_large', message: 'Request exceeds the maximum size' });
}
