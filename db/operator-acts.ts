import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import type { OperatorAct } from '../domain/operator-act.ts';

type Queryable = Pick<pg.ClientBase, 'query'>;

export interface NewOperatorAct {
  readonly act: OperatorAct;
  /** Null for the job as a whole. */
  readonly shard: number | null;
  /** The id of the operator's key, or `gateway`. */
  readonly actor: string;
  readonly reason: string | null;
  /** Ids, counts and closed words. */
  readonly details?: JsonObject;
}

/** An act as operators see it, column for column. */
export interface OperatorActView {
  readonly act: OperatorAct;
  readonly shard: number | null;
  readonly actor: string;
  readonly reason: string | null;
  readonly details: JsonObject;
  readonly created_at: Date;
}

/** A job looked at by hand has few; an endless repetition shows its end. */
const MAX_ACTS = 200;

export async function insertOperatorAct(
  client: Queryable,
  jobUuid: string,
  { act, shard, actor, reason, details = {} }: NewOperatorAct,
): Promise<void> {
  await client.query(
    'INSERT INTO operator_acts (job_id, shard, act, actor, reason, details) VALUES ($1, $2, $3, $4, $5, $6)',
    [jobUuid, shard, act, actor, reason, JSON.stringify(details)],
  );
}

/** The newest of a job, oldest first. */
export async function listOperatorActs(db: Queryable, jobUuid: string): Promise<OperatorActView[]> {
  const { rows } = await db.query<OperatorActView>(
    `SELECT act, shard, actor, reason, details, created_at FROM (
       SELECT * FROM operator_acts WHERE job_id = $1 ORDER BY act_no DESC LIMIT $2
     ) newest ORDER BY act_no`,
    [jobUuid, MAX_ACTS],
  );
  return rows;
}
