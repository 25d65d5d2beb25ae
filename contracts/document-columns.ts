import { z } from 'zod';
import { COLUMN_TYPES, type DocumentColumn } from '../domain/document.ts';
import { plainText, uniqueList } from './text.ts';

/** More make a schema that providers refuse to compile, and rows too long to be given whole. */
export const MAX_DOCUMENT_COLUMNS = 60;
const MAX_NAME_LENGTH = 100;
const MAX_DESCRIPTION_LENGTH = 500;

/** Names that mean something else than a member in the JSON libraries of some languages. */
const UNSAFE_NAMES: readonly string[] = ['__proto__', 'constructor', 'prototype'];

const ColumnName = plainText(MAX_NAME_LENGTH)
  .refine((name) => ['', name].includes(name.trim()), 'must not begin or end with white space')
  .refine((name) => !UNSAFE_NAMES.includes(name.toLowerCase()), {
    error: `must not be ${UNSAFE_NAMES.join(', ')}, which are not safe as names in JSON; choose another name`,
  })
  .meta({ description: 'Becomes the name in `line_items`, exactly as given.', example: 'total' });

const DocumentColumnInput = z.strictObject({
  name: ColumnName,
  description: plainText(MAX_DESCRIPTION_LENGTH)
    .nullable()
    .optional()
    .meta({
      description:
        'Told to the model. For a date it may name the order of numeric dates, as in `DD/MM/YYYY` or `month first`: without it, ' +
        'one such as 03/04/2026 is refused.',
      example: 'Amount to pay, tax included',
    }),
  type: z
    .enum(COLUMN_TYPES)
    .optional()
    .meta({
      description:
        '`text` by default. `number` gives a JSON number, `boolean` a JSON boolean, `date` an ISO 8601 day, `currency` the ' +
        'amount as an exact decimal string without its sign.',
      example: 'currency',
    }),
  required: z.boolean().optional().meta({
    description: 'False by default: then a value that is not in the document is `null`.',
  }),
});

/** The columns of a run, 1 to MAX_DOCUMENT_COLUMNS, whose names differ in more than upper and lower case. */
export const DocumentColumnsInput = uniqueList(DocumentColumnInput, {
  max: MAX_DOCUMENT_COLUMNS,
  keyOf: ({ name }) => foldName(name),
}).meta({
  example: [
    { name: 'vendor', required: true },
    { name: 'date', type: 'date' },
    { name: 'total', type: 'currency', description: 'Amount to pay, tax included' },
  ],
});

/** As they are told. */
export const DocumentColumnView = z
  .object({
    name: z.string(),
    description: z.string().nullable(),
    type: z.enum(COLUMN_TYPES),
    required: z.boolean(),
  })
  .meta({ id: 'DocumentColumn' });

/** With the defaults of what was left out. */
export function readDocumentColumns(given: z.output<typeof DocumentColumnsInput>): readonly DocumentColumn[] {
  return given.map(({ name, description = null, type = 'text', required = false }) => ({
    name,
    description,
    type,
    required,
  }));
}

function foldName(name: string): string {
  return name.normalize('NFKC').toLowerCase();
}
