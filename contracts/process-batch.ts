import { z } from 'zod';
import { RUN_MODES } from '../domain/document.ts';
import { DEFAULT_DOCUMENT_MODEL } from '../domain/document-items.ts';
import { DocumentColumnsInput, DocumentColumnView } from './document-columns.ts';
import { plainText } from './text.ts';

export const ProcessBatch = z
  .strictObject({
    columns: DocumentColumnsInput.optional().describe(
      'Of the table that the documents give. They are remembered: without them those of the last run of the batch are taken.',
    ),
    model: plainText(200)
      .optional()
      .meta({
        description: `An alias, a model or \`provider/model\`. Without it that of the last run of the batch, else \`${DEFAULT_DOCUMENT_MODEL}\`.`,
        example: DEFAULT_DOCUMENT_MODEL,
      }),
    mode: z
      .enum(RUN_MODES)
      .optional()
      .describe(
        '`direct`, the default, asks about some documents at once, now. `batch` makes one batch job of the run, at the batch price.',
      ),
    include: z
      .enum(['queued', 'failed'])
      .optional()
      .describe(
        '`queued`, the default, takes what is queued. `failed` takes what has failed too: it is queued again first.',
      ),
  })
  .meta({ id: 'ProcessBatch' });
export type ProcessBatch = z.output<typeof ProcessBatch>;

export const StartedRun = z
  .object({
    run_id: z.string().meta({ example: 'run_01j7q0c6tgf0wr9s2xk4zc8v5n' }),
    batch_name: z.string(),
    mode: z.enum(RUN_MODES),
    model: z.string(),
    documents: z.int().meta({ description: 'How many it has taken, each into this run alone.' }),
    columns: z.array(DocumentColumnView),
  })
  .meta({ id: 'StartedRun' });
