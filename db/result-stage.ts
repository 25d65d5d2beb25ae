import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { from as copyFrom } from 'pg-copy-streams';
import { type Amount, formatNumeric } from '../domain/money.ts';
import type { Usage } from '../domain/usage.ts';
import type { Database } from './client.ts';
import { COPY_NULL, copyText, copyTextOrNull } from './copy-text.ts';

/** One decoded and priced line, ready to settle. Of several for one item the lowest rank counts, then file, then line. */
export interface StagedLine {
  readonly itemNo: number;
  readonly rank: number;
  readonly file: number;
  readonly line: number;
  readonly state: number;
  readonly failureClass: string;
  readonly errorCode: string;
  readonly usage: Usage;
  readonly amount: Amount;
  /** What the customer is shown of it; null where that is the same. */
  readonly customerAmount?: Amount | null;
  readonly model: string;
  /** SHA-256 of the body in hex. */
  readonly responseHash: string | null;
  readonly body: string | null;
  readonly errorMessage: string | null;
  readonly nativeError: string | null;
}

const COLUMNS = `attempt_no, item_no, rank, file, line, state, failure_class, error_code, input_tokens, cached_input_tokens,
  cache_write_tokens, long_cache_write_tokens, output_tokens, reasoning_tokens, usage_estimated, amount, customer_amount, model, response_hash, body,
  error_message, native_error`;

/** Empties the stage of one attempt: before each reading, and after it has settled. */
export async function clearStage(db: Database, attemptNo: string): Promise<void> {
  await db.pool.query('DELETE FROM result_stage WHERE attempt_no = $1', [attemptNo]);
}

/** How many lines of items in a range the stage holds. */
export async function countStaged(
  db: Database,
  attemptNo: string,
  { firstItemNo, lastItemNo }: { readonly firstItemNo: number; readonly lastItemNo: number },
): Promise<number> {
  const { rows } = await db.pool.query<{ lines: number }>(
    'SELECT count(*)::int AS lines FROM result_stage WHERE attempt_no = $1 AND item_no BETWEEN $2 AND $3',
    [attemptNo, firstItemNo, lastItemNo],
  );
  return rows[0]?.lines ?? 0;
}

/** COPYs lines into the stage, on a connection of its own. */
export async function stageLines(db: Database, attemptNo: string, lines: readonly StagedLine[]): Promise<void> {
  if (lines.length === 0) return;
  const text = lines.map((line) => toCopyRow(attemptNo, line)).join('');
  const client = await db.pool.connect();
  try {
    await pipeline(
      Readable.from([Buffer.from(text)]),
      client.query(copyFrom(`COPY result_stage (${COLUMNS}) FROM STDIN`)),
    );
    client.release();
  } catch (error) {
    client.release(true);
    throw error;
  }
}

function toCopyRow(attemptNo: string, line: StagedLine): string {
  const numbers = `${attemptNo}\t${line.itemNo}\t${line.rank}\t${line.file}\t${line.line}`;
  const content = `${copyTextOrNull(line.body)}\t${copyTextOrNull(line.errorMessage)}\t${copyTextOrNull(line.nativeError)}`;
  return `${numbers}\t${outcomeText(line)}\t${content}\n`;
}

/** How a line ends its item in COPY's text format: the columns from `state` to `response_hash`, of stage and outcome alike. */
export function outcomeText(line: StagedLine): string {
  const { usage } = line;
  const end = `${line.state}\t${line.failureClass}\t${line.errorCode}`;
  const input = `${usage.inputTokens}\t${usage.cachedInputTokens}\t${usage.cacheWriteTokens}\t${usage.longCacheWriteTokens ?? 0}`;
  const output = `${usage.outputTokens}\t${usage.reasoningTokens}\t${usage.estimated ? 't' : 'f'}\t${formatNumeric(line.amount)}`;
  const customer = typeof line.customerAmount === 'bigint' ? formatNumeric(line.customerAmount) : COPY_NULL;
  const hash = line.responseHash === null ? COPY_NULL : `\\\\x${line.responseHash}`;
  return `${end}\t${input}\t${output}\t${customer}\t${copyText(line.model)}\t${hash}`;
}
