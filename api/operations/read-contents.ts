import { findContentFacts, listSources, type SourceRow } from '../../db/content-sources.ts';
import type { JobRecord } from '../../db/job-view.ts';
import type { ResultPlace, SettledItem } from '../../db/result-rows.ts';
import { type ContentFacts, contentPlace } from '../../domain/content-state.ts';
import { ItemReader } from '../../providers/read-items.ts';
import type { ItemReply, WantedItem } from '../../providers/result-cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import type { ShownItem } from '../presentation/result-row.ts';

export interface ContentReader {
  /**
   * The first of the rows, each with its reply: all of them, or as many as `maxBytes` of replies leave room for, at least one.
   */
  fill(rows: readonly SettledItem[], maxBytes: number): Promise<ShownItem[]>;
  /** To be called however the reading ends. */
  close(): Promise<void>;
}

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'providers'>;

/**
 * Replies of a job's items, and of those that retry them: from the gateway where it keeps them, else from the provider. The
 * reader keeps its place in the provider's files, so one that goes through a job reads each of them once.
 */
export function openContents({ db, now, providers }: Dependencies, job: JobRecord): ContentReader {
  const reader = new ItemReader(providers);
  const jobs = new Map<string, ContentFacts>([[job.uuid, job]]);
  const sources = new Map<string, SourceRow>();

  async function learn(rows: readonly SettledItem[]): Promise<void> {
    const unknown = new Set(rows.map(({ jobUuid }) => jobUuid).filter((uuid) => !jobs.has(uuid)));
    for (const [uuid, facts] of await findContentFacts(db.pool, [...unknown])) jobs.set(uuid, facts);
  }

  async function findPlaces(rows: readonly Placed[]): Promise<WantedItem[]> {
    const unknown = rows.filter((row) => !sources.has(keyOf(row)));
    const places = unknown.map(({ jobUuid, place }) => ({ uuid: jobUuid, ...place }));
    const found = places.length === 0 ? [] : await listSources(db.pool, places);
    for (const row of found) sources.set(keyOf({ jobUuid: row.uuid, place: row }), row);
    return rows.flatMap((row) => {
      const source = sources.get(keyOf(row));
      return source === undefined ? [] : [toWanted(row, source)];
    });
  }

  return {
    async fill(rows, maxBytes) {
      await learn(rows);
      const at = now();
      const placed = rows.map((row) => ({ row, content: whereIs(row, jobs.get(row.jobUuid), at) }));
      const there = placed.flatMap(({ row, content }) => (content === 'at_provider' && isPlaced(row) ? [row] : []));
      const replies = await readAll(reader, await findPlaces(there), maxBytes);
      const shown: ShownItem[] = [];
      let read = 0;
      for (const { row, content } of placed) {
        if (content !== 'at_provider') shown.push({ ...row, content });
        else if (!isPlaced(row)) shown.push({ ...row, content: 'lost' });
        else {
          const reply = replies[read];
          if (reply === undefined) break;
          read += 1;
          shown.push(withReply(row, reply));
        }
      }
      return shown;
    },

    close: () => reader.close(),
  };
}

type Placed = SettledItem & { readonly place: ResultPlace; readonly responseHash: Buffer };

function isPlaced(row: SettledItem): row is Placed {
  return row.place !== null && row.responseHash !== null;
}

/** Items that did not complete have none: what came in a reply's place is the provider's own account of a failure. */
function whereIs(row: SettledItem, job: ContentFacts | undefined, at: Date): ShownItem['content'] {
  if (row.status !== 'completed' || job === undefined) return null;
  const place = contentPlace(job, at);
  return place === 'stored' && row.body === null ? 'deleted' : place;
}

function readAll(reader: ItemReader, wanted: readonly WantedItem[], maxBytes: number): Promise<ItemReply[]> {
  return wanted.length === 0 ? Promise.resolve([]) : reader.read(wanted, { maxBytes });
}

function withReply(row: SettledItem, reply: ItemReply): ShownItem {
  return reply.kind === 'read' ? { ...row, body: reply.body, content: 'at_provider' } : { ...row, content: reply.kind };
}

function keyOf({
  jobUuid,
  place,
}: {
  readonly jobUuid: string;
  readonly place: Pick<ResultPlace, 'shard' | 'attempt'>;
}) {
  return `${jobUuid}/${place.shard}/${place.attempt}`;
}

function toWanted(row: Placed, source: SourceRow): WantedItem {
  const { file, line } = row.place;
  const { provider, credentialId, endpoint, attemptToken } = source;
  return {
    source: { key: keyOf(row), provider, credentialId, endpoint, attemptToken, batch: source },
    itemNo: row.itemNo,
    file,
    line,
    responseHash: row.responseHash,
  };
}
