import { type RowsDamage, withoutDirectives } from './directives.ts';
import { type FoundRow, findRows } from './found-rows.ts';
import { foldName, type RowMember, type RowsSchema } from './rows-schema.ts';

const PAGE = /^page/;
const CONFIDENCE = /^confidence/;
const SURE = 0.9;

/** The reply to a request for rows: those that the text has for the members, as JSON that fits the schema. */
export function rowsReply(schema: RowsSchema, material: string, damage: RowsDamage | undefined): string {
  const columns = schema.members.filter((member) => !isPlace(member));
  const found = findRows(material.split('\f').map(withoutDirectives), columns);
  const rows = found.map((row) =>
    Object.fromEntries(schema.members.map((member) => [member.key, memberValue(member, row)])),
  );
  switch (damage?.kind) {
    case undefined:
      return JSON.stringify({ [schema.list]: rows });
    case 'broken':
      return `Here are the rows: ${JSON.stringify({ [schema.list]: rows }).slice(0, -2)}`;
    case 'missing':
      return JSON.stringify({ [schema.list]: atLeastOne(rows).map((row) => without(row, damage.column, columns)) });
    case 'wrong_type': {
      const wrong = Object.fromEntries(columns.slice(0, 1).map(({ key }) => [key, { unexpected: [true] }]));
      return JSON.stringify({ [schema.list]: atLeastOne(rows).map((row) => ({ ...row, ...wrong })) });
    }
  }
}

/** Damage shows in any document, also in one without rows. */
function atLeastOne<Row extends object>(rows: readonly Row[]): readonly (Row | object)[] {
  return rows.length > 0 ? rows : [{}];
}

function without(row: object, column: string, columns: readonly RowMember[]): object {
  const name = foldName(column);
  const keys = columns.filter(({ names }) => names.includes(name)).map(({ key }) => key);
  return Object.fromEntries(Object.entries(row).filter(([key]) => !keys.includes(key)));
}

function isPlace({ key, type }: RowMember): boolean {
  return (type === 'integer' && PAGE.test(key)) || (type === 'number' && CONFIDENCE.test(key));
}

function memberValue(member: RowMember, { page, values }: FoundRow): unknown {
  if (isPlace(member)) return member.type === 'integer' ? page : SURE;
  const text = values.get(member.key) ?? '';
  if (text === '' && member.isNullable) return null;
  switch (member.type) {
    case 'string':
      return text;
    case 'boolean':
      return /^(true|yes|1|x)$/i.test(text);
    case 'integer':
      return Math.trunc(numberIn(text));
    case 'number':
      return numberIn(text);
  }
}

/** The first number that stands in the text, or 0. */
function numberIn(text: string): number {
  const [digits = '0'] = /-?\d[\d,]*(\.\d+)?/.exec(text) ?? [];
  return Number(digits.replaceAll(',', ''));
}
