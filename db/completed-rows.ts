import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type pg from 'pg';
import { from as copyFrom } from 'pg-copy-streams';
import { ledgerEvent } from '../domain/ledger-entry.ts';
import { formatNumeric } from '../domain/money.ts';
import { copyTextOrNull } from './copy-text.ts';
import type { JobKey } from './job-rows.ts';
import { outcomeText, type StagedLine } from './result-stage.ts';

/** Where the outcomes of one settlement belong, and after which result number they are numbered. */
export interface OutcomePlace {
  readonly job: JobKey;
  readonly submissionNo: number;
  readonly shard: number;
  readonly attempt: number;
  readonly lastSeq: number;
  /** The provider keeps the contents, and the rows say where. */
  readonly pointsToFiles: boolean;
}

const OUTCOME_COLUMNS = `bucket, job_id, item_no, seq, shard, attempt, state, failure_class, error_code, input_tokens,
  cached_input_tokens, cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount,
  customer_amount, model, response_hash`;

/**
 * COPYs outcomes, contents and charges of completed items, one line each, straight into the partitions of the job's
 * bucket. None of the items may have an outcome: the primary keys would end the transaction.
 */
export async function copyCompleted(
  client: pg.PoolClient,
  place: OutcomePlace,
  lines: readonly StagedLine[],
): Promise<void> {
  const { kind, bucket, uuid } = place.job;
  const event = ledgerEvent(kind, 'item.settled');
  const outcomes = lines.map((line, index) => outcomeRow(place, line, place.lastSeq + index + 1));
  await copy(client, `item_outcomes_${bucket} (${OUTCOME_COLUMNS})`, outcomes);
  await copyContents(client, place, lines);
  const charges = lines.map(
    ({ itemNo, amount }) =>
      `${bucket}\t${uuid}\t${itemNo}\t${event}\t${place.submissionNo}\t${formatNumeric(amount)}\tgateway\tresult\n`,
  );
  await copy(
    client,
    `ledger_entries_${bucket} (bucket, subject_id, item_no, event, ordinal, amount, actor, cause)`,
    charges,
  );
}

async function copyContents(
  client: pg.PoolClient,
  { job: { bucket, uuid }, pointsToFiles }: OutcomePlace,
  lines: readonly StagedLine[],
): Promise<void> {
  const columns = pointsToFiles ? 'file, line' : 'body';
  const contents = lines.map((line) => {
    const content = pointsToFiles ? `${line.file}\t${line.line}` : copyTextOrNull(line.body);
    return `${bucket}\t${uuid}\t${line.itemNo}\t${content}\n`;
  });
  await copy(client, `item_results_${bucket} (bucket, job_id, item_no, ${columns})`, contents);
}

function outcomeRow({ job, shard, attempt }: OutcomePlace, line: StagedLine, seq: number): string {
  return `${job.bucket}\t${job.uuid}\t${line.itemNo}\t${seq}\t${shard}\t${attempt}\t${outcomeText(line)}\n`;
}

async function copy(client: pg.PoolClient, target: string, rows: readonly string[]): Promise<void> {
  await pipeline(Readable.from([Buffer.from(rows.join(''))]), client.query(copyFrom(`COPY ${target} FROM STDIN`)));
}
