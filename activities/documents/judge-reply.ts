import { readDocumentRows } from '../../contracts/document-rows.ts';
import { repairContext } from '../../db/document-repairs.ts';
import { rowsContext } from '../../db/document-view.ts';
import type { DocumentEnd, RunDocument } from '../../db/run-documents.ts';
import { readCompletion } from '../../domain/completion-reply.ts';
import type { DocumentColumn } from '../../domain/document.ts';
import type { DocumentErrorCode } from '../../domain/document-error.ts';
import type { RowProblem } from '../../domain/extraction-request.ts';
import { keepsContent } from '../../domain/storage-terms.ts';
import type { Cipher } from '../../encryption/cipher.ts';

/** A reply that does not fit, and what is wrong with it. */
export interface Misfit {
  readonly reply: string;
  readonly problems: readonly RowProblem[];
}

/** What an answer makes of its document. */
export type Judgement =
  | { readonly kind: 'end'; readonly end: DocumentEnd }
  | { readonly kind: 'misfit'; readonly misfit: Misfit };

/** `completion` is the neutral chat completion, as JSON text. Rows are sealed where the document's policy keeps no content. */
export async function judgeReply(
  cipher: Cipher,
  document: Pick<RunDocument, 'documentId' | 'storage'>,
  columns: readonly DocumentColumn[],
  completion: string,
): Promise<Judgement> {
  const answer = readCompletion(completion);
  const reply = answer?.text ?? '';
  const read = readDocumentRows(reply, columns);
  // To ask again would be cut off, or refused, again.
  if (!read.ok && answer?.finishReason === 'length') return failed('reply_cut_off');
  if (!read.ok && answer?.isRefused === true) return failed('safety_blocked');
  if (!read.ok) return { kind: 'misfit', misfit: { reply, problems: read.problems } };
  const content = { line_items: read.rows, provenance: read.provenance };
  const rows = keepsContent(document.storage)
    ? { lineItems: JSON.stringify(read.rows), provenance: JSON.stringify(read.provenance), sealed: null }
    : {
        lineItems: null,
        provenance: null,
        sealed: await cipher.seal(Buffer.from(JSON.stringify(content)), rowsContext(document.documentId)),
      };
  return { kind: 'end', end: { state: 'succeeded', rowCount: read.rows.length, rows } };
}

function failed(code: DocumentErrorCode): Judgement {
  return { kind: 'end', end: { state: 'failed', code } };
}

/** For its document's repair, and opened for that alone. Throws `encryption_not_configured` without a key. */
export async function sealMisfit(cipher: Cipher, { uuid }: Pick<RunDocument, 'uuid'>, misfit: Misfit): Promise<Buffer> {
  return cipher.seal(Buffer.from(JSON.stringify(misfit)), repairContext(uuid));
}

/** What sealMisfit sealed. Throws SealError for anything else. */
export async function openMisfit(cipher: Cipher, { uuid }: Pick<RunDocument, 'uuid'>, sealed: Buffer): Promise<Misfit> {
  return JSON.parse((await cipher.open(sealed, repairContext(uuid))).toString());
}
