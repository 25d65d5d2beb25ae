import { CsvError, parse } from 'csv-parse/sync';
import { z } from 'zod';
import { CurrencyInput, MoneyInput } from '../../contracts/money.ts';
import { plainText } from '../../contracts/text.ts';
import type { ProviderBatchKey } from '../../db/billed-batches.ts';
import type { ErrorDetail } from '../../domain/gateway-error.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { BilledAmount } from '../../domain/invoice.ts';
import { parseAmount } from '../../domain/money.ts';

/** What an invoice bills for a batch, all its lines together. */
export type InvoiceLine = ProviderBatchKey & BilledAmount;

const COLUMNS = ['provider', 'provider_batch_id', 'billed_amount', 'currency'] as const;
const MAX_LINES = 100_000;

const Line = z.object({
  provider: plainText(64),
  provider_batch_id: plainText(256),
  billed_amount: MoneyInput,
  currency: CurrencyInput,
});
type Line = z.infer<typeof Line>;

/** Reads an invoice as CSV. Throws `invalid_request` with a detail for each line that cannot be read. */
export function readInvoice(csv: string): InvoiceLine[] {
  const records = parseCsv(csv);
  const details: ErrorDetail[] = [];
  const billed = new Map<string, InvoiceLine>();
  for (const { record, line } of records) {
    const checked = Line.safeParse(record);
    if (!checked.success) {
      const [issue] = checked.error.issues;
      details.push(faultAt(line, issue?.path.join('.') ?? '', issue?.message ?? 'cannot be read'));
      continue;
    }
    const sum = addUp(billed, checked.data);
    if (sum === null) details.push(faultAt(line, 'currency', 'must be that of the other lines of its batch'));
  }
  if (details.length > 0) throw unreadable('Some lines of the invoice cannot be read.', details);
  if (billed.size === 0) throw unreadable('The invoice has no lines.');
  return [...billed.values()];
}

function parseCsv(csv: string): { readonly record: unknown; readonly line: number }[] {
  try {
    const parsed = parse<{ record: unknown; info: { lines: number } }>(csv, {
      bom: true,
      columns: (header: string[]) => requireColumns(header.map((name) => name.trim().toLowerCase())),
      info: true,
      skip_empty_lines: true,
      to_line: MAX_LINES + 1,
      trim: true,
    });
    return parsed.map(({ record, info }) => ({ record, line: info.lines }));
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    throw unreadable(`The invoice is not CSV as it should be: ${error.code}.`);
  }
}

function requireColumns(header: readonly string[]): string[] {
  const missing = COLUMNS.filter((name) => !header.includes(name));
  if (missing.length > 0) throw unreadable(`The invoice lacks the column ${missing.join(', ')}.`);
  return [...header];
}

function addUp(billed: Map<string, InvoiceLine>, line: Line): InvoiceLine | null {
  const { provider, provider_batch_id: providerBatchId, currency } = line;
  const key = JSON.stringify([provider, providerBatchId]);
  const before = billed.get(key);
  if (before !== undefined && before.currency !== currency) return null;
  const sum = (before?.billed ?? 0n) + parseAmount(line.billed_amount);
  const added = { provider, providerBatchId, billed: sum, currency };
  billed.set(key, added);
  return added;
}

function faultAt(line: number, field: string, message: string): ErrorDetail {
  return { line, field, error: 'invalid_request', message };
}

function unreadable(message: string, details: readonly ErrorDetail[] = []): GatewayError {
  return new GatewayError('invalid_request', message, { field: 'body', ...(details.length > 0 && { details }) });
}
