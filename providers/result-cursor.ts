import { hash } from 'node:crypto';
import { decodeProviderItemId } from '../domain/attempt-token.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import type { EndedBatch } from './ended-batch.ts';
import { MAX_LINE_BYTES, splitLineBatches } from './jsonl.ts';
import type { BatchProvider, ResultFile, ResultLine } from './provider.ts';

/** An attempt whose results are at its provider. */
export interface ResultSource {
  /** The same for the same attempt, and for no other. */
  readonly key: string;
  readonly provider: Provider;
  readonly credentialId: string;
  readonly endpoint: Endpoint;
  readonly attemptToken: string;
  readonly batch: EndedBatch;
}

/** A completed item, and where its reply was when it settled. */
export interface WantedItem {
  readonly source: ResultSource;
  readonly itemNo: number;
  /** Counted from 1, in the order in which the adapter names the files. */
  readonly file: number;
  readonly line: number;
  /** SHA-256 of the reply as it was settled. */
  readonly responseHash: Uint8Array;
}

/**
 * `read`: the reply as JSON text, the very one that was settled. `lost`: it is not there any more. `changed`: something else
 * stands there. `unavailable`: the provider could not be asked.
 */
export type ItemReply =
  | { readonly kind: 'read'; readonly body: string }
  | { readonly kind: 'lost' | 'changed' | 'unavailable' };

/** Items of one file, by their numbers, and what was found of them. */
export interface FileSearch {
  readonly wanted: ReadonlyMap<number, WantedItem>;
  readonly found: Map<number, ItemReply>;
  /** So much was found that the rest is for later. */
  readonly isFull: () => boolean;
}

/** Item numbers whose reply was not found yet. */
export function missingOf({ wanted, found }: FileSearch): Set<number> {
  return new Set(wanted.keys().filter((itemNo) => found.get(itemNo)?.kind !== 'read'));
}

/** A result file as far as it was read. */
export class ResultCursor {
  /** The last line that was looked at. */
  line = 0;
  readonly #adapter: BatchProvider;
  readonly #source: ResultSource;
  readonly #idPattern: RegExp;
  readonly #abort = new AbortController();
  readonly #lines: AsyncGenerator<FileLine>;

  constructor(adapter: BatchProvider, file: ResultFile, source: ResultSource) {
    this.#adapter = adapter;
    this.#source = source;
    this.#idPattern = new RegExp(`${source.attemptToken}-([1-9][0-9]{0,9})(?![0-9])`, 'g');
    this.#lines = readLines(adapter.downloadFile({ file, signal: this.#abort.signal }));
  }

  /** Reads on until every wanted item is found, the file ends, or enough was found: then false. */
  async search(search: FileSearch): Promise<boolean> {
    const missing = missingOf(search);
    while (missing.size > 0) {
      const next = await this.#lines.next();
      if (next.done === true) return true;
      this.line = next.value.line;
      const hit = this.#look(next.value.text, search, missing);
      if (hit === null) continue;
      const { itemNo, reply } = hit;
      if (reply.kind === 'read' || !search.found.has(itemNo)) search.found.set(itemNo, reply);
      if (reply.kind === 'read') missing.delete(itemNo);
      if (missing.size > 0 && search.isFull()) return false;
    }
    return true;
  }

  async close(): Promise<void> {
    this.#abort.abort();
    await this.#lines.return(undefined).catch(() => undefined);
  }

  #look(text: string, { wanted }: FileSearch, missing: ReadonlySet<number>) {
    // An id of ours stands somewhere on its line: looking for it spares reading all the lines in between.
    if (!text.matchAll(this.#idPattern).some(([, digits]) => missing.has(Number(digits)))) return null;
    const decoded = this.#adapter.decodeLine(this.#source.endpoint, text);
    const id = decodeProviderItemId(decoded.providerItemId);
    if (id === null || id.token !== this.#source.attemptToken || !missing.has(id.itemNo)) return null;
    const item = wanted.get(id.itemNo);
    return item === undefined ? null : { itemNo: id.itemNo, reply: replyOf(item, decoded) };
  }
}

function replyOf({ responseHash }: WantedItem, decoded: ResultLine): ItemReply {
  if (decoded.kind !== 'result' || decoded.result.kind !== 'completed') return { kind: 'changed' };
  const { body } = decoded.result;
  const isSame = Buffer.from(hash('sha256', body), 'hex').equals(responseHash);
  return isSame ? { kind: 'read', body } : { kind: 'changed' };
}

interface FileLine {
  readonly line: number;
  readonly text: string;
}

/** Lines that are not UTF-8, or too long, are nobody's reply. */
async function* readLines(source: AsyncIterable<Uint8Array>): AsyncGenerator<FileLine> {
  for await (const lines of splitLineBatches(source, { maxLineBytes: MAX_LINE_BYTES })) {
    for (const { line, text } of lines) if (text !== null) yield { line, text };
  }
}
