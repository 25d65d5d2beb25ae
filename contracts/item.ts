import { z } from 'zod';

/** One request of a job, as one member of `items` or one NDJSON line. Checked line by line as the body streams in. */
const Item = z
  .strictObject({
    custom_id: z.string().meta({
      description:
        'Required, unique in the job, 1 to 512 code points, no control characters, not only white space. Kept exactly as ' +
        'given. Something shaped like an e-mail address is refused unless the tenant allows it.',
      example: 'row_000381',
    }),
    request: z.record(z.string(), z.unknown()).meta({
      description: 'The ordinary body of the job’s endpoint. `model` in it overrides the job’s model.',
      example: { messages: [{ role: 'user', content: 'Classify: …' }], max_tokens: 20 },
    }),
    idempotency_key: z
      .string()
      .optional()
      .meta({
        description:
          'Defaults to `custom_id`. Appended again with the same content the item is accepted once; with other content the ' +
          'call is refused.',
      }),
  })
  .meta({ id: 'Item' });

export const AppendItems = z.strictObject({ items: z.array(Item) }).meta({ id: 'AppendItems' });

export const ItemLines = z.string().meta({
  description: 'One item as a JSON object on each line. `Content-Encoding: gzip` is accepted.',
  example: '{"custom_id":"row_1","request":{"messages":[{"role":"user","content":"…"}]}}\n',
});

export const ItemsAccepted = z
  .object({
    accepted: z.int().meta({ description: 'Items this call added.' }),
    duplicates: z.int().meta({ description: 'Items that were already there with the same content.' }),
    total: z.int().meta({ description: 'Items the job now holds.' }),
  })
  .meta({ id: 'ItemsAccepted' });
