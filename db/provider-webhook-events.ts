import type pg from 'pg';
import type { Provider } from '../domain/provider.ts';

/** Longer than a recorded delivery stays fresh, and than most providers go on repeating one. */
const KEPT_MS = 24 * 3_600_000;

type Queryable = Pick<pg.Pool, 'query'>;

/** An event as its provider names it. */
interface ProviderEventKey {
  readonly provider: Provider;
  readonly eventId: string;
}

export async function isEventKnown(db: Queryable, { provider, eventId }: ProviderEventKey): Promise<boolean> {
  const { rowCount } = await db.query('SELECT FROM provider_webhook_events WHERE provider = $1 AND event_id = $2', [
    provider,
    eventId,
  ]);
  return rowCount === 1;
}

/** True for the first to record the event. */
export async function recordEvent(db: Queryable, { provider, eventId }: ProviderEventKey, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    `INSERT INTO provider_webhook_events (provider, event_id, received_at) VALUES ($1, $2, $3)
     ON CONFLICT (provider, event_id) DO NOTHING`,
    [provider, eventId, now],
  );
  return rowCount === 1;
}

/** Deletes what is older than a day; returns how many. */
export async function purgeProviderWebhookEvents(db: Queryable, now: Date): Promise<number> {
  const { rowCount } = await db.query('DELETE FROM provider_webhook_events WHERE received_at <= $1', [
    new Date(now.getTime() - KEPT_MS),
  ]);
  return rowCount ?? 0;
}
