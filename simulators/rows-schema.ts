/** A member of a row, as a JSON schema has it. */
export interface RowMember {
  key: string;
  /** What people call it: its title, its name. In the form of {@link foldName}. */
  names: string[];
  type: 'string' | 'number' | 'integer' | 'boolean';
  isNullable: boolean;
}

export interface RowsSchema {
  /** Where the list of rows stands. */
  list: string;
  members: RowMember[];
}

type Schema = Readonly<Record<string, unknown>>;

const TYPES = ['string', 'number', 'integer', 'boolean'] as const;

/** A schema that asks for rows: an object with one member, a list of objects. Undefined for any other. */
export function rowsSchemaOf(schema: unknown): RowsSchema | undefined {
  const [only, ...others] = Object.entries(asSchema(asSchema(schema)['properties']));
  if (only === undefined || others.length > 0) return undefined;
  const [list, array] = only;
  const members = Object.entries(asSchema(asSchema(asSchema(array)['items'])['properties']));
  if (asSchema(array)['type'] !== 'array' || members.length === 0) return undefined;
  return { list, members: members.map(([key, member]) => memberOf(key, asSchema(member))) };
}

/** Letters and digits in lower case, so that `Total amount`, `total_amount` and `TOTAL AMOUNT` are one name. */
export function foldName(name: string): string {
  return name
    .normalize('NFKC')
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]/gu, '');
}

function memberOf(key: string, schema: Schema): RowMember {
  const variants = Array.isArray(schema['anyOf']) ? schema['anyOf'].map((each) => asSchema(each)['type']) : [];
  const types = [schema['type'], ...variants].flat();
  const { title } = schema;
  const names = [...(typeof title === 'string' ? [title] : []), key].map(foldName);
  return {
    key,
    names: names.filter((name) => name !== ''),
    type: TYPES.find((type) => types.includes(type)) ?? 'string',
    isNullable: types.includes('null'),
  };
}

function asSchema(value: unknown): Schema {
  return typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Schema) : {};
}
