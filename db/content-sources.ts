import type pg from 'pg';
import type { ContentFacts } from '../domain/content-state.ts';
import type { Endpoint, Provider } from '../domain/provider.ts';
import type { AttemptRow } from './attempts.ts';
import type { ResultPlace } from './result-rows.ts';
import { TERMS_COLUMNS, type TermsRow, toStorageTerms } from './storage-terms.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** Where the replies of each of the jobs are, by their uuids. */
export async function findContentFacts(db: Queryable, uuids: readonly string[]): Promise<Map<string, ContentFacts>> {
  if (uuids.length === 0) return new Map();
  const { rows } = await db.query<TermsRow & Omit<ContentFacts, 'terms'> & { readonly uuid: string }>(
    `SELECT job_id AS uuid, ${TERMS_COLUMNS}, completed_at AS "completedAt", retrieval_deadline AS "retrievalDeadline",
       content_deleted_at AS "contentDeletedAt", provider_files_deleted_at AS "providerFilesDeletedAt"
     FROM batch_jobs WHERE job_id = ANY ($1::uuid[])`,
    [uuids],
  );
  return new Map(rows.map((row) => [row.uuid, { ...row, terms: toStorageTerms(row) }]));
}

/** An attempt whose results its provider has. */
export interface SourceRow
  extends Pick<
    AttemptRow,
    | 'attemptToken'
    | 'credentialId'
    | 'providerBatchId'
    | 'inputFileId'
    | 'outputFileId'
    | 'errorFileId'
    | 'nativeStatus'
    | 'batchEnd'
    | 'expiresAt'
  > {
  readonly uuid: string;
  readonly shard: number;
  readonly attempt: number;
  readonly provider: Provider;
  readonly endpoint: Endpoint;
}

/** The attempts in which the places are, each once. */
export async function listSources(
  db: Queryable,
  places: readonly (Pick<ResultPlace, 'shard' | 'attempt'> & { readonly uuid: string })[],
): Promise<SourceRow[]> {
  const { rows } = await db.query<SourceRow>(
    `SELECT m.job_id AS uuid, m.shard, m.attempt, m.provider, m.endpoint, m.attempt_token AS "attemptToken",
       m.credential_id AS "credentialId", m.provider_batch_id AS "providerBatchId", m.input_file_id AS "inputFileId",
       m.output_file_id AS "outputFileId", m.error_file_id AS "errorFileId", m.native_status AS "nativeStatus",
       m.batch_end AS "batchEnd", m.expires_at AS "expiresAt"
     FROM (SELECT DISTINCT * FROM unnest($1::uuid[], $2::int[], $3::int[]) AS p (job_id, shard, attempt)) place
     JOIN batch_provider_metadata m USING (job_id, shard, attempt)`,
    [places.map(({ uuid }) => uuid), places.map(({ shard }) => shard), places.map(({ attempt }) => attempt)],
  );
  return rows;
}
