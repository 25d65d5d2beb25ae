import { pipeline } from 'node:stream';
import { createZstdDecompress } from 'node:zlib';
import { z } from 'zod';
import { ArtifactStoreError } from '../../artifacts/store.ts';
import type { ArtifactList } from '../../contracts/artifact.ts';
import { type ArtifactPlace, type ArtifactRow, findArtifact, listArtifacts } from '../../db/artifacts.ts';
import { recordAudit } from '../../db/audit-log.ts';
import { findJob } from '../../db/jobs.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import { CursorInteger, decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentHash } from '../presentation/hash.ts';
import { presentTime } from '../presentation/time.ts';
import { noSuchJob } from './owned-job.ts';
import type { PageWish } from './page-by-id.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'artifacts'>;

const LIST = 'artifacts';

/** The copies of the providers' result files of any tenant's job, by shard, attempt and file. Throws `not_found`. */
export async function listJobArtifacts(
  { db }: Dependencies,
  { jobId, cursor, limit }: PageWish & { readonly jobId: string },
): Promise<ArtifactList> {
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const position = decodeCursor(LIST, [CursorInteger, CursorInteger, CursorInteger] as const, cursor);
  const [shard = 0, attempt = 0, file = 0] = position ?? [];
  const after = position === null ? null : { shard, attempt, file };
  const rows = await listArtifacts(db.pool, job.uuid, { after, limit: limit + 1 });
  const last = rows.length > limit ? rows[limit - 1] : undefined;
  return {
    data: rows.slice(0, limit).map(present),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.shard, last.attempt, last.file]),
  };
}

/**
 * The bytes of one, as the provider sent them; that they were read is noted. Throws `not_found`, `content_deleted`, or
 * `dependency_unavailable` where the store does not answer.
 */
export async function readArtifact(
  { db, artifacts }: Dependencies,
  request: {
    readonly principal: Principal;
    readonly jobId: string;
    readonly place: ArtifactPlace;
    readonly signal: AbortSignal;
  },
): Promise<AsyncIterable<Uint8Array>> {
  const { principal, jobId, place, signal } = request;
  const job = await findJob(db.pool, null, jobId);
  if (job === null) throw noSuchJob();
  const found = await findArtifact(db.pool, job.uuid, place);
  if (found === null || found.storedAt === null) throw new GatewayError('not_found', 'The job has no such artifact.');
  if (found.deletedAt !== null || job.contentDeletedAt !== null)
    throw new GatewayError('content_deleted', 'The content of this job was deleted.');
  if (artifacts === null) throw away();
  await recordAudit(db.pool, {
    ...{ act: 'operator.artifact_read', actor: principal.keyId, tenantId: job.tenantId, subject: jobId },
    details: { shard: place.shard, attempt: place.attempt, file: place.file },
  });
  try {
    const stored = await artifacts.get(found.key, signal);
    return pipeline(stored, createZstdDecompress(), () => undefined);
  } catch (error) {
    if (!(error instanceof ArtifactStoreError)) throw error;
    if (error.fault === 'missing')
      throw new GatewayError('not_found', 'The artifact store has it no more.', { cause: error });
    throw away(error);
  }
}

/** From the path; anything but whole numbers names none. */
export const ArtifactPlaceParams = z.object({
  shard: z.string(),
  attempt: z.string(),
  file: z.string(),
});

/** Null for what is no place. */
export function toPlace(params: z.infer<typeof ArtifactPlaceParams>): ArtifactPlace | null {
  const [shard, attempt, file] = [params.shard, params.attempt, params.file].map((text) =>
    /^[0-9]{1,9}$/.test(text) ? Number(text) : null,
  );
  if (shard == null || attempt == null || file == null) return null;
  return { shard, attempt, file };
}

function away(cause?: unknown): GatewayError {
  return new GatewayError('dependency_unavailable', 'The artifact store does not answer. Try again later.', { cause });
}

function present(row: ArtifactRow): ArtifactList['data'][number] {
  const { shard, attempt, file, kind, key, facts, deletedAt } = row;
  const stored = facts === null ? ('not_stored' as const) : ('stored' as const);
  return {
    ...{ shard, attempt, file, kind, key },
    state: deletedAt === null ? stored : 'deleted',
    bytes: facts?.bytes ?? null,
    stored_bytes: facts?.storedBytes ?? null,
    sha256: facts === null ? null : presentHash(facts.sha256),
    stored_at: presentTime(row.storedAt),
    deleted_at: presentTime(deletedAt),
  };
}
