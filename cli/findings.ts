import type { Validation } from '../contracts/validation.ts';
import type { Context } from './command.ts';
import { plainText } from './errors.ts';
import { count, fields } from './output.ts';

const SHOWN_DETAILS = 3;

/** What a dry run found and what the job would cost. */
export function describeValidation(validation: Validation, context: Pick<Context, 'terminal'>): string {
  const { paint } = context.terminal;
  const { ok, findings, target, estimate, budgets, rejected_targets: rejected } = validation;
  const head = ok ? paint('green', 'would be accepted') : paint('red', 'would be refused');
  const found = findings.flatMap(({ error, message, field, items, details }) => [
    `${paint('red', error)}: ${plainText(message)} (${field}${items > 0 ? `, ${count(items)} items` : ''})`,
    ...details
      .slice(0, SHOWN_DETAILS)
      .map((detail) =>
        plainText(
          `  ${[detail.line && `line ${detail.line}`, detail.custom_id, detail.field].filter(Boolean).join(', ')}: ${detail.message}`,
        ),
      ),
  ]);
  const facts = fields(context, [
    ['runs on', target === null ? null : `${target.provider}/${target.model}`],
    ...rejected.map(
      ({ target: { provider, model }, message }) => ['not on', `${provider}/${model}: ${message}`] as const,
    ),
    ['items', estimate?.items === undefined ? null : count(estimate.items)],
    [
      'tokens',
      estimate === null ? null : `${count(estimate.input_tokens)} in, ${count(estimate.output_tokens)} out, estimated`,
    ],
    ['estimate', estimate === null ? null : `${estimate.estimated} ${estimate.currency}`],
    ['would hold', estimate === null ? null : `${estimate.reserved} ${estimate.currency}`],
    ...budgets.map(
      ({ scope, scope_id, available, currency, fits }) =>
        [
          'budget',
          `${scope} ${scope_id}: ${available} ${currency} available, ${fits ? 'enough' : 'not enough'}`,
        ] as const,
    ),
  ]);
  return [head, ...found].map((line) => `${line}\n`).join('') + facts;
}
