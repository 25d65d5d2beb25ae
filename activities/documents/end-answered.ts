import { insertRepairs } from '../../db/document-repairs.ts';
import { getRun } from '../../db/document-runs.ts';
import type { JobRow } from '../../db/job-rows.ts';
import { type DocumentEnd, endProcessing, listByItems } from '../../db/run-documents.ts';
import type { Alongside } from '../../ledger/settle-completed.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { MatchedLine } from '../read-results.ts';
import { judgeReply, sealMisfit } from './judge-reply.ts';

/**
 * What the answers of a batch make of their documents, written in the transaction in which their items settle: rows, or
 * that the reply is to be mended. Read and sealed before that.
 */
export async function endAnswered(
  { db, cipher, now }: Pick<ActivityDependencies, 'db' | 'cipher' | 'now'>,
  job: JobRow,
  lines: readonly MatchedLine[],
): Promise<Alongside> {
  const { uuid } = job.key;
  const { columns } = await getRun(db.pool, job.jobId);
  const replies = new Map<number, string>();
  for (const { itemNo, result } of lines)
    if (result.kind === 'completed' && !replies.has(itemNo)) replies.set(itemNo, result.body);
  const ends = new Map<number, DocumentEnd & { readonly uuid: string }>();
  const misfits = new Map<number, { readonly uuid: string; readonly sealed: Buffer; readonly usage: null }>();
  for (const document of await listByItems(db.pool, uuid, [...replies.keys()])) {
    const judged = await judgeReply(cipher, document, columns, replies.get(document.itemNo) ?? '');
    const its = { uuid: document.uuid };
    if (judged.kind === 'end') ends.set(document.itemNo, { ...its, ...judged.end });
    else
      misfits.set(document.itemNo, { ...its, sealed: await sealMisfit(cipher, document, judged.misfit), usage: null });
  }
  return async (client, settled) => {
    const itemNos = settled.map(({ itemNo }) => itemNo);
    const found = <Value>(of: ReadonlyMap<number, Value>): Value[] =>
      itemNos.flatMap((itemNo) => {
        const value = of.get(itemNo);
        return value === undefined ? [] : [value];
      });
    await endProcessing(client, found(ends), now());
    await insertRepairs(client, uuid, found(misfits));
  };
}
