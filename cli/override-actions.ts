import type { Query } from './client.ts';
import type { OptionSpecs } from './command.ts';
import { usageError } from './errors.ts';

export const ACTIONS = ['list', 'add', 'withdraw'] as const;

/** Options of `list` for overrides of either kind. */
export const LIST_OPTIONS = {
  tenant: { type: 'string', value: 'ID', help: 'the only tenant it is for; list: only those for it' },
  provider: { type: 'string', value: 'NAME', help: 'the provider; list: only those about it' },
  withdrawn: { type: 'boolean', help: 'list: those that hold no more too' },
} as const satisfies OptionSpecs;

const PAGE_SIZE = 1000;

/** Every page of a list. */
export async function readAll<Row>(
  read: (query: Query) => Promise<{ readonly data: readonly Row[]; readonly next_cursor: string | null }>,
  filter: { readonly tenant?: string; readonly provider?: string; readonly withdrawn?: boolean },
): Promise<Row[]> {
  const rows: Row[] = [];
  const query = {
    tenant_id: filter.tenant,
    provider: filter.provider,
    withdrawn: filter.withdrawn ? 'include' : undefined,
  };
  for (let cursor: string | null | undefined; cursor !== null; ) {
    const page = await read({ ...query, cursor, limit: PAGE_SIZE });
    rows.push(...page.data);
    cursor = page.next_cursor;
  }
  return rows;
}

/** The argument an action needs. Throws a usage error where it is missing, or given to one that takes none. */
export function requireOperand(
  command: string,
  action: string,
  name: string | null,
  given: string | undefined,
): string {
  if (name === null && given !== undefined) {
    throw usageError(`${command} ${action} takes no further argument "${given}".`);
  }
  if (name !== null && given === undefined) throw usageError(`${command} ${action} needs ${name}.`, name);
  return given ?? '';
}

/** Whose word an override is, as a cell. */
export function scopeOf({ tenant_id }: { readonly tenant_id: string | null }): string {
  return tenant_id ?? 'every tenant';
}
