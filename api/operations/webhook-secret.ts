import { randomBytes } from 'node:crypto';
import type pg from 'pg';
import type { Database } from '../../db/client.ts';
import type { Answer, IdempotentRequest } from '../../db/idempotency-keys.ts';
import { inTransaction } from '../../db/transaction.ts';
import { secretContext } from '../../db/webhook-secrets.ts';
import type { Cipher } from '../../encryption/cipher.ts';
import { type KeptAnswer, once } from './once.ts';
import { showOnce } from './show-once.ts';

/** Between the 24 and 64 that Standard Webhooks asks for. */
const SECRET_BYTES = 32;

/** A new signing secret: sealed for its row, and as it is shown this once. Throws `encryption_not_configured`. */
export async function makeSecret(cipher: Cipher, secretId: string): Promise<{ sealed: Buffer; shown: string }> {
  const secret = randomBytes(SECRET_BYTES);
  return {
    sealed: await cipher.seal(secret, secretContext(secretId)),
    shown: `whsec_${secret.toString('base64')}`,
  };
}

/** One transaction whose answer holds a secret, told to `show`, and null where the answer is given again. */
export function showingSecret(
  db: Database,
  idempotency: IdempotentRequest | null,
  effect: (client: pg.PoolClient, show: (secret: string) => void) => Promise<Answer>,
): Promise<KeptAnswer> {
  return showOnce(
    (show) => inTransaction(db, (client) => once(client, idempotency, () => effect(client, show))),
    'secret',
  );
}
