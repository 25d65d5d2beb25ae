import { type Attachment, textOfAttachments } from './attachments.ts';
import { type RowsSchema, rowsSchemaOf } from './rows-schema.ts';

/** What a request says to the model, out of its provider's shape. */
export interface Asked {
  /** All text, that of attached documents after the rest. */
  prompt: string;
  /** What rows are to be taken from: the text of the documents, else of the first thing the user says. A form feed ends a page. */
  material: string;
  /** The text that `[[sim:once]]` goes by: of rows it is what they are taken from, so that a request to repair them is no other. */
  onceKey: string;
}

export interface Said {
  prompt: string;
  firstTurn: string;
  attachments: readonly Attachment[];
  /** Of the reply, as far as the request asks for one. */
  schema: unknown;
}

/** Reads the documents of a request; a request without any costs nothing. */
export async function readAsked({ prompt, firstTurn, attachments, schema }: Said): Promise<Asked> {
  const attached = attachments.length === 0 ? '' : await textOfAttachments(attachments);
  const whole = attached === '' ? prompt : `${prompt}\n${attached}`;
  const rows: RowsSchema | undefined = rowsSchemaOf(schema);
  const material = attached === '' ? firstTurn : attached;
  return { prompt: whole, material, onceKey: rows === undefined ? whole : material };
}
