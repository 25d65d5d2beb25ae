import { stringify } from 'csv-stringify/sync';
import type { UsageRecord } from './operations/export-usage.ts';

const WHOSE = ['job_id', 'tenant_id', 'project_id', 'customer_id', 'api_key_id', 'endpoint'];
const TOKENS = ['input_tokens', 'cached_input_tokens', 'cache_write_tokens', 'output_tokens', 'reasoning_tokens'];

const COLUMNS = {
  job: [
    ...WHOSE,
    ...['status', 'provider', 'model', 'items', 'completed', 'failed', 'expired', 'cancelled'],
    ...TOKENS,
    ...['usage_estimated_items', 'cost', 'currency', 'first_settled_at', 'last_settled_at'],
  ],
  item: [
    ...WHOSE,
    ...['item_id', 'custom_id', 'status', 'provider', 'model'],
    ...TOKENS,
    ...['usage_estimated', 'cost', 'currency', 'settled_at'],
  ],
} as const;

type Pieces = AsyncGenerator<readonly UsageRecord[]>;

export async function* usageNdjson(pieces: Pieces): AsyncGenerator<string> {
  for await (const records of pieces) yield records.map((record) => `${JSON.stringify(record)}\n`).join('');
}

/** RFC 4180, the header line always. Texts that a spreadsheet would run as a formula get an apostrophe in front. */
export async function* usageCsv(pieces: Pieces, level: keyof typeof COLUMNS): AsyncGenerator<string> {
  const columns = COLUMNS[level];
  const options = { columns, escape_formulas: true, record_delimiter: 'windows', cast: { boolean: String } };
  yield stringify([], { ...options, header: true });
  for await (const records of pieces) yield stringify([...records], options);
}
