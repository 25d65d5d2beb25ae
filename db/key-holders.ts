import type pg from 'pg';

/** Whether a key may still act, for what is done in its name while it is not there. */
export async function isKeyActive(db: Pick<pg.ClientBase, 'query'>, keyId: string, now: Date): Promise<boolean> {
  const { rowCount } = await db.query(
    'SELECT 1 FROM api_keys WHERE key_id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > $2)',
    [keyId, now],
  );
  return rowCount === 1;
}
