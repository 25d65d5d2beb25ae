import type { Quote } from '../../contracts/quote.ts';
import { CONNECTION_OPTIONS, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { exitCode } from '../exit-codes.ts';
import { type Column, count, fields, printJson, table } from '../output.ts';

const COLUMNS: readonly Column<Quote['lines'][number]>[] = [
  { title: 'MODEL', cell: ({ provider, model }) => `${provider}/${model}` },
  { title: 'ITEMS', align: 'right', cell: ({ items }) => items },
  { title: 'TOKENS IN', align: 'right', cell: ({ input_tokens }) => input_tokens },
  { title: 'TOKENS OUT', align: 'right', cell: ({ output_tokens }) => output_tokens },
  { title: 'ESTIMATE', align: 'right', cell: ({ estimated }) => estimated },
  { title: 'PRICE', cell: ({ batch_price }) => batch_price, maxWidth: 60 },
];

export const quoteCommand = defineCommand({
  name: 'quote',
  summary: "show how a job's estimate was made",
  arguments: ['JOB'],
  options: CONNECTION_OPTIONS,
  examples: ['quote job_01j7zb8k3te9aabfm0z0e2d3k4'],
  async run({ values, positionals: [jobId = ''] }, context) {
    const { basis, quote, ...rest } = await connectTenant(values, context).quote(jobId);
    const { out } = context.terminal;
    if (values.json) printJson(context, { ...rest, basis, quote });
    else if (quote === null)
      out.write(`The job cannot be priced as it is: "${context.program} validate ${jobId}" tells why.\n`);
    else {
      const facts = fields(context, [
        ['basis', basis === 'draft' ? 'the draft as it is now' : 'the submission'],
        ['items', count(quote.items)],
        ['estimate', `${quote.estimated} ${quote.currency}`],
        ['input', describeInput(quote)],
        ...quote.expected_output.map((output) => ['output', describeOutput(output)] as const),
        ['margin', quote.margin],
        ['to hold', `${quote.reserved} ${quote.currency}`],
        ['price book', quote.price_book_version],
      ]);
      const notes = quote.lines.flatMap(({ note }) => (note === null ? [] : [`${note}\n`]));
      out.write(`${facts}\n${table(context, COLUMNS, quote.lines)}${notes.join('')}`);
    }
    return exitCode('ok');
  },
});

/** How the counted tokens became the estimated ones. */
export function describeInput({
  counted_input_tokens: counted,
  input_tokens: tokens,
  calibration,
}: Pick<Quote, 'counted_input_tokens' | 'input_tokens' | 'calibration'>): string {
  if (counted === null || calibration === null) return `${count(tokens)} tokens as counted`;
  const models = calibration.models.map(({ model, encoding, ratio, factor }) => {
    const vocabulary = ratio === '1.00' ? encoding : `${encoding} × ${ratio}`;
    return `${model} × ${factor} by ${vocabulary}`;
  });
  const sample = `${count(calibration.sampled_items)} items sampled with ${calibration.library}`;
  return `${count(tokens)} tokens: ${count(counted)} counted, ${models.join(', ')} (${sample})`;
}

const METHODS: { readonly [method in Quote['expected_output'][number]['method']]: string } = {
  cap: "the requests' own caps",
  learned: 'what earlier replies stayed within',
  default: 'a default',
};

export function describeOutput(output: Quote['expected_output'][number]): string {
  const total = `${count(output.tokens)} tokens of ${output.model}`;
  const method = METHODS[output.method];
  if (output.replies === null || output.tokens_each === null) return `${total}: ${method}`;
  const known = output.known_replies === 0 ? '' : `, ${count(output.known_replies)} known`;
  return `${total}: ${count(output.replies)} replies × ${count(output.tokens_each)}, ${method}${known}`;
}
