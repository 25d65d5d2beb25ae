import type { ResealReport } from '../../contracts/reseal.ts';
import { recordAudit } from '../../db/audit-log.ts';
import {
  listSealed,
  replaceSealed,
  SEALED_COLUMNS,
  type SealedColumn,
  type SealedValue,
} from '../../db/sealed-values.ts';
import { inTransaction } from '../../db/transaction.ts';
import type { Principal } from '../../domain/principal.ts';
import { type Cipher, SealError } from '../../encryption/cipher.ts';
import type { ApiDependencies } from '../dependencies.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'cipher'>;

const PAGE = 500;
/** Of one call, which whoever asks repeats until nothing is left. */
const MAX_RESEALED = 500;

interface Tally {
  readonly byKey: Map<string, number>;
  resealed: number;
  failed: number;
}

interface Due {
  readonly place: SealedColumn;
  readonly value: SealedValue;
  readonly sealed: Buffer;
}

/**
 * Seals anew, under the current key, what another sealed: a bounded number a call. Says what each key still seals. Throws
 * `encryption_not_configured`.
 */
export async function reseal(
  { db, cipher }: Dependencies,
  { principal }: { readonly principal: Principal },
): Promise<ResealReport> {
  const current = cipher.currentKeyId;
  const tally: Tally = { byKey: new Map(), resealed: 0, failed: 0 };
  const due: Due[] = [];
  for (const place of SEALED_COLUMNS) {
    for await (const value of allSealed(db, place)) {
      const keyId = keyIdOf(cipher, value);
      const sealed =
        keyId === current || due.length >= MAX_RESEALED ? null : await sealAnew(cipher, place, value, tally);
      if (sealed === null) count(tally, keyId);
      else due.push({ place, value, sealed });
    }
  }
  await inTransaction(db, async (client) => {
    tally.resealed = 0;
    for (const { place, value, sealed } of due) {
      if (await replaceSealed(client, place, value, sealed)) tally.resealed += 1;
    }
    if (tally.resealed === 0) return;
    const details = { key_id: current, values: tally.resealed };
    await recordAudit(client, {
      ...{ act: 'encryption.resealed', actor: principal.keyId, tenantId: null, subject: null, details },
    });
  });
  // What changed in between was written by a gateway whose current key this is.
  for (const _ of due) count(tally, current);
  const sealed = [...tally.byKey].map(([keyId, values]) => ({ key_id: keyId, values }));
  const { resealed, failed } = tally;
  return { current_key_id: current, resealed, failed, sealed: sealed.toSorted(byKeyId) };
}

async function* allSealed(db: Dependencies['db'], place: SealedColumn): AsyncGenerator<SealedValue> {
  let after: string | null = null;
  for (;;) {
    const page: readonly SealedValue[] = await listSealed(db.pool, place, { after, limit: PAGE });
    yield* page;
    const last = page.at(-1);
    if (last === undefined || page.length < PAGE) return;
    after = last.id;
  }
}

async function sealAnew(cipher: Cipher, place: SealedColumn, value: SealedValue, tally: Tally): Promise<Buffer | null> {
  const context = `${place.table}/${value.id}`;
  try {
    return await cipher.seal(await cipher.open(value.sealed, context), context);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    tally.failed += 1;
    return null;
  }
}

const UNKNOWN_KEY = 'unknown';

function keyIdOf(cipher: Cipher, { sealed }: SealedValue): string {
  try {
    return cipher.keyIdOf(sealed);
  } catch (error) {
    if (!(error instanceof SealError)) throw error;
    return UNKNOWN_KEY;
  }
}

function count({ byKey }: Tally, keyId: string): void {
  byKey.set(keyId, (byKey.get(keyId) ?? 0) + 1);
}

function byKeyId(one: { readonly key_id: string }, other: { readonly key_id: string }): number {
  return one.key_id < other.key_id ? -1 : 1;
}
