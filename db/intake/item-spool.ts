import type { ItemGroup } from '../../domain/admission-facts.ts';
import { type ItemRow, ItemRowWriter } from '../item-rows.ts';
import type { SpooledItems } from '../item-spool.ts';
import { GroupTally } from './group-tally.ts';
import { SpoolFile } from './spool-file.ts';
import type { SpaceLease, SpoolSpace } from './spool-space.ts';

export interface SpoolSettings {
  /** Folder of temporary files; made when missing. */
  readonly directory: string;
  /** Bytes each half of a body may keep in memory before a file is opened. */
  readonly memoryBytes: number;
  /** Shared by every body on its way through the process. */
  readonly space: SpoolSpace;
}

/** The checked items of one body as COPY rows, and their groups, until they are stored. Close it always. */
export class ItemSpool implements SpooledItems {
  readonly positions: 'line' | 'index';
  readonly #writer: ItemRowWriter;
  readonly #lease: SpaceLease;
  readonly #itemRows: SpoolFile;
  readonly #requestRows: SpoolFile;
  readonly #tally = new GroupTally();
  readonly #writeItem = (rows: Buffer, start: number, item: ItemRow) => this.#writer.writeItem(rows, start, item);
  readonly #writeRequest = (rows: Buffer, start: number, item: ItemRow) => this.#writer.writeRequest(rows, start, item);
  #itemCount = 0;
  #hasOwnKeys = false;

  constructor(
    owner: { readonly bucket: number; readonly jobUuid: string },
    positions: 'line' | 'index',
    { directory, memoryBytes, space }: SpoolSettings,
  ) {
    this.#writer = new ItemRowWriter(owner);
    this.positions = positions;
    this.#lease = space.lease();
    const options = { directory, memoryBytes, lease: this.#lease };
    this.#itemRows = new SpoolFile(options);
    this.#requestRows = new SpoolFile(options);
  }

  get itemCount(): number {
    return this.#itemCount;
  }

  /** Whether any item has an idempotency key other than its custom id. */
  get hasOwnKeys(): boolean {
    return this.#hasOwnKeys;
  }

  /** Takes one item. True asks for a `flush` before the next. */
  add(item: ItemRow): boolean {
    this.#tally.add(item);
    this.#itemCount += 1;
    if (item.idempotencyKey !== null) this.#hasOwnKeys = true;
    const isFull = this.#itemRows.add(item, this.#writer.itemSize(item), this.#writeItem);
    return this.#requestRows.add(item, this.#writer.requestSize(item), this.#writeRequest) || isFull;
  }

  async flush(): Promise<void> {
    await this.#requestRows.flush();
    await this.#itemRows.flush();
  }

  async finish(): Promise<void> {
    await this.#requestRows.finish();
    await this.#itemRows.finish();
  }

  groups(): readonly ItemGroup[] {
    return this.#tally.groups();
  }

  /** Item rows in order, in batches of whole rows, fresh at every call. */
  itemRows(): AsyncGenerator<Buffer> {
    return this.#itemRows.batches();
  }

  /** Request rows in the same order. */
  requestRows(): AsyncGenerator<Buffer> {
    return this.#requestRows.batches();
  }

  async close(): Promise<void> {
    await Promise.all([this.#itemRows.close(), this.#requestRows.close()]).finally(() => this.#lease.release());
  }
}
