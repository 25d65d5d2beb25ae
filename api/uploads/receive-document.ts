import { createHash, type Hash } from 'node:crypto';
import type { Readable } from 'node:stream';
import busboy from 'busboy';
import { BatchName, FileName } from '../../contracts/document.ts';
import { isStorable } from '../../contracts/metadata.ts';
import type { SpoolSettings } from '../../db/intake/item-spool.ts';
import { SpoolFile } from '../../db/intake/spool-file.ts';
import type { SpaceLease } from '../../db/intake/spool-space.ts';
import type { DocumentLimits } from '../../domain/document-facts.ts';
import { fileTooLarge } from '../../domain/document-refusal.ts';
import { GatewayError } from '../../domain/gateway-error.ts';

/** A body as it arrives. */
export interface DocumentBody {
  readonly stream: Readable;
  readonly contentType: string | undefined;
  readonly contentEncoding: string | undefined;
}

/** A document that was received whole. Whoever has it closes it. */
export interface ReceivedDocument {
  readonly batchName: string;
  readonly customerId: string | undefined;
  /** Null where none was given. */
  readonly fileName: string | null;
  readonly bytes: number;
  readonly sha256: Buffer;
  /** May be read more than once. */
  read(): AsyncIterable<Uint8Array>;
  close(): Promise<void>;
}

const FIELDS = ['batch_name', 'customer_id'] as const;
type FieldName = (typeof FIELDS)[number];

/** Longer than any name may be, so that one that is too long is told so. */
const MAX_FIELD_BYTES = 8 * 1024;
const MAX_PARTS = 8;
const MAX_HEADERS_OF_PART = 20;

/**
 * Reads multipart/form-data with one `file` and the fields beside it, in any order, at the client's pace into a bounded spool.
 * Throws `invalid_request` naming the part that is missing, twice there, unknown or malformed, `document_too_large`,
 * `document_empty`, `unsupported_media_type`, and what the spool throws. The stream itself is never destroyed, so that a refusal
 * can still be answered on its connection.
 */
export async function receiveDocument(
  body: DocumentBody,
  limits: DocumentLimits,
  { directory, memoryBytes, space }: SpoolSettings,
): Promise<ReceivedDocument> {
  const parser = openParser(body, limits.maxBytes);
  const lease = space.lease();
  const spool = new SpoolFile({ directory, memoryBytes, lease });
  const parts = new Parts(spool, lease, limits);
  try {
    await parse(body.stream, parser, parts);
    return await parts.toDocument();
  } catch (error) {
    await parts.close();
    throw error;
  }
}

function openParser({ contentType, contentEncoding }: DocumentBody, maxBytes: number): busboy.Busboy {
  if (contentEncoding !== undefined && contentEncoding.toLowerCase() !== 'identity')
    throw new GatewayError('unsupported_media_type', 'The body of this call may not have a Content-Encoding.');
  if (!/^multipart\/form-data\s*;/i.test(contentType ?? ''))
    throw new GatewayError('unsupported_media_type', 'This call takes multipart/form-data with a boundary.');
  try {
    return busboy({
      headers: { 'content-type': contentType },
      defParamCharset: 'utf8',
      // Names are shown, never used: a slash in one is a character like any other.
      preservePath: true,
      limits: {
        // One more than may come, so that a file of just the limit is told from one that goes on.
        fileSize: maxBytes + 1,
        fieldNameSize: 100,
        fieldSize: MAX_FIELD_BYTES,
        parts: MAX_PARTS,
        headerPairs: MAX_HEADERS_OF_PART,
      },
    });
  } catch (error) {
    throw new GatewayError('invalid_request', 'The Content-Type of multipart/form-data names no boundary.', {
      cause: error,
    });
  }
}

async function parse(stream: Readable, parser: busboy.Busboy, parts: Parts): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  let files: Promise<void> = Promise.resolve();
  const fail = (error: unknown) => reject(asRefusal(error));
  parser.on('file', (name, file, { filename }) => {
    // Heard below; until then nobody listens.
    file.on('error', () => undefined);
    files = files.then(() => parts.takeFile(name, file, filename));
    files.catch(fail);
  });
  parser.on('field', (name, value, { valueTruncated }) => {
    try {
      parts.takeField(name, value, valueTruncated);
    } catch (error) {
      fail(error);
    }
  });
  parser.once('partsLimit', () => fail(invalid('The body has more parts than this call takes.')));
  parser.once('error', fail);
  parser.once('close', () => void files.then(resolve, fail));
  stream.on('error', () => fail(broken()));
  stream.once('close', () => {
    if (!stream.readableEnded) fail(broken());
  });
  stream.pipe(parser);
  try {
    await promise;
  } finally {
    // What is left of it is the server's to drain.
    stream.unpipe(parser);
    parser.on('error', () => undefined);
    parser.destroy();
  }
}

/** What came so far. */
class Parts {
  readonly #spool: SpoolFile;
  readonly #lease: SpaceLease;
  readonly #limits: DocumentLimits;
  readonly #fields = new Map<FieldName, string>();
  readonly #hash: Hash = createHash('sha256');
  #file: { readonly name: string | null } | null = null;
  #bytes = 0;

  constructor(spool: SpoolFile, lease: SpaceLease, limits: DocumentLimits) {
    this.#spool = spool;
    this.#lease = lease;
    this.#limits = limits;
  }

  /** A value in a charset that the parser does not know has none. */
  takeField(name: string | undefined, value: string | undefined, isTruncated: boolean): void {
    const field = FIELDS.find((known) => known === name);
    if (name === 'file') throw invalid('file: it has to come as a file, with a filename.', 'file');
    if (field === undefined) throw invalid(unknownPart(name), name);
    if (this.#fields.has(field)) throw invalid(`${field}: it is there twice.`, field);
    if (isTruncated) throw invalid(`${field}: it is longer than any may be.`, field);
    if (value === undefined || !isStorable(value))
      throw invalid(`${field}: it has to be well-formed text in UTF-8 without NUL.`, field);
    this.#fields.set(field, value);
  }

  async takeFile(name: string, file: Readable, fileName: string | undefined): Promise<void> {
    if (FIELDS.some((field) => field === name))
      throw invalid(`${name}: it has to come as a text, not as a file.`, name);
    if (name !== 'file') throw invalid(unknownPart(name), name);
    if (this.#file !== null) throw invalid('file: one call takes one file. Send each in a call of its own.', 'file');
    this.#file = { name: nameOf(fileName) };
    for await (const chunk of file as AsyncIterable<Buffer>) {
      this.#bytes += chunk.length;
      if (this.#bytes > this.#limits.maxBytes) throw fileTooLarge(this.#limits);
      this.#hash.update(chunk);
      const isFull = this.#spool.add(chunk, chunk.length, (rows, start, row) => start + row.copy(rows, start));
      if (isFull) await this.#spool.flush();
    }
  }

  async toDocument(): Promise<ReceivedDocument> {
    if (this.#file === null) throw invalid('file: it is missing.', 'file');
    const batchName = this.#fields.get('batch_name');
    if (batchName === undefined) throw invalid('batch_name: it is missing.', 'batch_name');
    requireName(BatchName, batchName, 'batch_name');
    await this.#spool.finish();
    return {
      batchName,
      customerId: this.#fields.get('customer_id'),
      fileName: this.#file.name,
      bytes: this.#bytes,
      sha256: this.#hash.digest(),
      read: () => this.#spool.batches(),
      close: () => this.close(),
    };
  }

  async close(): Promise<void> {
    await this.#spool.close();
    this.#lease.release();
  }
}

/** HTML has forms write these three percent-encoded in file names, and nothing else: https://html.spec.whatwg.org/#multipart-form-data */
function nameOf(encoded: string | undefined): string | null {
  if (encoded === undefined || encoded === '') return null;
  const fileName = encoded.replace(/%(?:22|0D|0A)/g, decodeURIComponent);
  requireName(FileName, fileName, 'file.filename');
  return fileName;
}

function requireName(schema: typeof BatchName, value: string, field: string): void {
  const checked = schema.safeParse(value);
  if (!checked.success) throw invalid(`${field}: ${checked.error.issues[0]?.message ?? 'not a name'}.`, field);
}

function unknownPart(name: string | undefined): string {
  return `The body has a part ${JSON.stringify((name ?? '').slice(0, 100))}; this call takes file, ${FIELDS.join(' and ')}.`;
}

function invalid(message: string, field?: string): GatewayError {
  return new GatewayError('invalid_request', message, field === undefined ? {} : { field });
}

function broken(): GatewayError {
  return invalid('The body broke off before its end. Nothing was stored; send it again.');
}

/** What the parser throws is about the body. */
function asRefusal(error: unknown): unknown {
  if (error instanceof GatewayError || !(error instanceof Error) || 'syscall' in error) return error;
  return /Unexpected end of (form|file)|Malformed/.test(error.message)
    ? new GatewayError(
        'invalid_request',
        'The body is no complete multipart/form-data. Nothing was stored; send it again.',
        {
          cause: error,
        },
      )
    : error;
}
