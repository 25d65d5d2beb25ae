/** Why a document failed, as its `processing_error` says it. The list is closed; a new cause is added here. */
const MESSAGES = {
  upstream_canceled: 'The provider, or somebody with access to it, cancelled the request before it was done.',
  expired: 'The provider did not get to the document within its time.',
  rows_do_not_fit: 'What the model answered does not fit the columns, also when it was asked again.',
  reply_cut_off: 'The document has more rows than the model may write in one answer. Split it.',
  safety_blocked: 'The provider blocked the document or the answer by its safety rules.',
  request_refused:
    'The provider refused the document. It may be too large for the model, or in a form that it cannot read.',
  provider_failed: 'The provider failed. It may be processed again with {"include":"failed"}.',
  text_unreadable: 'The model takes no files of this type, and there is no text in it that could be sent instead.',
  content_deleted: 'The file was deleted before it was processed.',
  file_unavailable: 'The file could not be read from the artifact store.',
  internal: 'The gateway failed at it.',
} as const;

export type DocumentErrorCode = keyof typeof MESSAGES;
export const DOCUMENT_ERROR_CODES = Object.keys(MESSAGES) as readonly DocumentErrorCode[];

/** For whoever uploaded it; a code of another version of this code is told as it is. */
export function documentErrorMessage(code: string): string {
  return Object.hasOwn(MESSAGES, code) ? MESSAGES[code as DocumentErrorCode] : 'The document could not be processed.';
}
