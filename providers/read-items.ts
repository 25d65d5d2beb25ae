import { endedBatch } from './ended-batch.ts';
import type { ProviderAdapters } from './provider-adapters.ts';
import { ProviderError } from './provider-error.ts';
import { type FileSearch, type ItemReply, missingOf, ResultCursor, type WantedItem } from './result-cursor.ts';

/** A provider's connection is kept for each; the one that was read longest ago is closed for another. */
const MAX_OPEN_FILES = 4;

/**
 * Reads replies where their providers keep them, by the code that read them when they settled. Lines are found by the id
 * in each, which has to have the attempt's token; what is found is the item's only if its hash is the one that was settled.
 */
export class ItemReader {
  readonly #adapters: ProviderAdapters;
  readonly #open = new Map<string, ResultCursor>();
  /** Did not answer, or have no adapter any more: not asked again by this reader. */
  readonly #failed = new Set<string>();

  constructor(adapters: ProviderAdapters) {
    this.#adapters = adapters;
  }

  /**
   * The replies of the first of the items, in their order: all of them, or as many as fit into about `maxBytes`, at least
   * one. Each file is read once, from where the last call left it, as long as lines come in the order of the items.
   */
  async read(items: readonly WantedItem[], { maxBytes }: { readonly maxBytes: number }): Promise<ItemReply[]> {
    const [first] = items;
    if (first === undefined) return [];
    const replies = await this.#readFiles(items, maxBytes);
    if (replies[0] !== undefined) return untilMissing(replies);
    // Its line comes after more than fits: it is read by itself.
    return untilMissing(await this.#readFiles([first], Number.POSITIVE_INFINITY));
  }

  /** Lets go of every file; to be called however the reading ends. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.keys()].map((fileKey) => this.#drop(fileKey)));
  }

  /** Undefined for what is left for later. */
  async #readFiles(items: readonly WantedItem[], maxBytes: number): Promise<(ItemReply | undefined)[]> {
    const replies = new Map<WantedItem, ItemReply>();
    let bytes = 0;
    for (const [fileKey, group] of Map.groupBy(items, fileKeyOf)) {
      const found: FileSearch['found'] = new Map();
      const wanted = new Map(group.map((item) => [item.itemNo, item]));
      const isDone = await this.#searchFile(fileKey, {
        wanted,
        found,
        isFull: () => bytes + bytesOf(found) >= maxBytes,
      });
      const missing: ItemReply = { kind: this.#failed.has(fileKey) ? 'unavailable' : 'lost' };
      for (const item of group) {
        const reply = found.get(item.itemNo);
        if (isDone || reply?.kind === 'read') replies.set(item, reply ?? missing);
      }
      bytes += bytesOf(found);
      if (!isDone || bytes >= maxBytes) break;
    }
    return items.map((item) => replies.get(item));
  }

  /**
   * From where the file was left, and once more from its start: lines may have moved, and a connection may be worn out.
   * False when enough was found before the end.
   */
  async #searchFile(fileKey: string, search: FileSearch): Promise<boolean> {
    const [any] = search.wanted.values();
    if (any === undefined || this.#failed.has(fileKey)) return true;
    if (!this.#adapters.names.includes(any.source.provider)) {
      this.#failed.add(fileKey);
      return true;
    }
    const firstLine = Math.min(...search.wanted.values().map(({ line }) => line));
    const kept = this.#open.get(fileKey);
    if (kept !== undefined && kept.line < firstLine) {
      const outcome = await this.#tryIn(kept, fileKey, search);
      if (outcome === 'full') return false;
      if (missingOf(search).size === 0) return true;
    }
    await this.#drop(fileKey);
    const cursor = await this.#openFile(fileKey, any);
    const outcome = cursor === null ? 'ended' : await this.#tryIn(cursor, fileKey, search);
    if (outcome === 'full') return false;
    if (outcome === 'failed') this.#failed.add(fileKey);
    if (missingOf(search).size > 0) await this.#drop(fileKey);
    return true;
  }

  /** A file that is gone has ended, with nothing in it. */
  async #tryIn(cursor: ResultCursor, fileKey: string, search: FileSearch): Promise<'ended' | 'full' | 'failed'> {
    try {
      return (await cursor.search(search)) ? 'ended' : 'full';
    } catch (error) {
      await this.#drop(fileKey);
      if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
      return error.code === 'not_found' ? 'ended' : 'failed';
    }
  }

  /** Null where the batch has no such file. */
  async #openFile(fileKey: string, { source, file }: WantedItem): Promise<ResultCursor | null> {
    const adapter = await this.#adapters.of(source.provider, source.credentialId);
    const resultFile = adapter.resultFiles(endedBatch(source.batch))[file - 1];
    if (resultFile === undefined) return null;
    const [oldest] = this.#open.keys();
    if (this.#open.size >= MAX_OPEN_FILES && oldest !== undefined) await this.#drop(oldest);
    const cursor = new ResultCursor(adapter, resultFile, source);
    this.#open.set(fileKey, cursor);
    return cursor;
  }

  async #drop(fileKey: string): Promise<void> {
    const cursor = this.#open.get(fileKey);
    this.#open.delete(fileKey);
    await cursor?.close();
  }
}

function fileKeyOf({ source, file }: WantedItem): string {
  return `${source.key}/${file}`;
}

function bytesOf(found: FileSearch['found']): number {
  return found.values().reduce((sum, reply) => sum + (reply.kind === 'read' ? reply.body.length : 0), 0);
}

function untilMissing(replies: readonly (ItemReply | undefined)[]): ItemReply[] {
  const end = replies.indexOf(undefined);
  return replies.slice(0, end === -1 ? replies.length : end).filter((reply) => reply !== undefined);
}
