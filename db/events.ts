import type pg from 'pg';
import type { JsonObject } from '../domain/json-object.ts';
import { newId } from './ids.ts';
import { type DeliveredContent, enqueueDeliveries } from './webhook-outbox.ts';

/** Something that happened, told to clients. */
export interface Event {
  /** Rises in the order of a job's events; a cursor. */
  readonly eventNo: number;
  readonly eventId: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly createdAt: Date;
}

export interface NewEvent {
  readonly tenantId: string;
  /** The job's uuid; null for what concerns no job. */
  readonly jobId: string | null;
  /** Of what concerns a project and no job. */
  readonly projectId?: string | null;
  readonly type: string;
  readonly data: JsonObject;
  /** The public id of what it is about; absent where that is the batch job. */
  readonly subjectId?: string;
  /** What deliveries carry in place of `data`, where that is content: it is in no event. */
  readonly content?: DeliveredContent;
}

const DEFAULT_LIMIT = 500;

/**
 * Writes an event and its deliveries to webhooks in the caller's transaction, best as its last step: it waits for other
 * transactions that have written an event of the same job, so that numbers become visible in their order and a reader's
 * cursor passes none by.
 */
export async function insertEvent(client: pg.PoolClient, event: NewEvent): Promise<Event> {
  if (event.jobId !== null) {
    await client.query("SELECT pg_advisory_xact_lock(hashtextextended('batchgate.event ' || $1, 0))", [event.jobId]);
  }
  const { rows } = await client.query<EventRow>(
    `INSERT INTO events (event_id, tenant_id, job_id, type, data) VALUES ($1, $2, $3, $4, $5) RETURNING ${COLUMNS}`,
    [newId('event'), event.tenantId, event.jobId, event.type, event.data],
  );
  const [row] = rows;
  if (row === undefined) throw new Error('an insert returned no row');
  const written = toEvent(row);
  await enqueueDeliveries(client, {
    ...written,
    tenantId: event.tenantId,
    jobId: event.jobId,
    projectId: event.projectId ?? null,
    data: event.data,
    ...(event.subjectId !== undefined && { subjectId: event.subjectId }),
    ...(event.content !== undefined && { content: event.content }),
  });
  return written;
}

/** A job's events after a number, in order. 0 begins at the first. */
export async function listEvents(
  db: Pick<pg.ClientBase, 'query'>,
  jobId: string,
  afterEventNo: number,
  limit = DEFAULT_LIMIT,
): Promise<readonly Event[]> {
  const { rows } = await db.query<EventRow>(
    `SELECT ${COLUMNS} FROM events WHERE job_id = $1 AND event_no > $2 ORDER BY event_no LIMIT $3`,
    [jobId, afterEventNo, limit],
  );
  return rows.map(toEvent);
}

const COLUMNS = 'event_no, event_id, type, data, created_at';

interface EventRow {
  readonly event_no: string;
  readonly event_id: string;
  readonly type: string;
  readonly data: JsonObject;
  readonly created_at: Date;
}

function toEvent(row: EventRow): Event {
  return {
    eventNo: Number(row.event_no),
    eventId: row.event_id,
    type: row.type,
    data: row.data,
    createdAt: row.created_at,
  };
}
