import { hash } from 'node:crypto';
import type pg from 'pg';

type Queryable = Pick<pg.ClientBase, 'query'>;

/** A change of its tables would change what such a statement returns, and one that was prepared before would fail from then on. */
const RETURNS_ALL_COLUMNS = /(?:SELECT|RETURNING|,)\s+(?:\w+\.)?\*/;

/**
 * The same connection or pool, whose statements are prepared: each connection parses and plans a text once, and then only runs
 * it. For paths that ask the same few statements about single rows over and over, where planning costs more than running; not
 * for statements over many rows, whose best plan depends on their values, nor for texts that are put together anew each time.
 */
export function prepared<Connection extends Queryable>(connection: Connection): Connection {
  const query = (text: unknown, values?: unknown): unknown => {
    const run = connection.query.bind(connection) as (...given: unknown[]) => unknown;
    if (typeof text !== 'string' || !Array.isArray(values) || RETURNS_ALL_COLUMNS.test(text)) return run(text, values);
    return run({ name: nameOf(text), text, values });
  };
  return new Proxy(connection, {
    get: (target, member) => {
      if (member === 'query') return query;
      const value: unknown = Reflect.get(target, member, target);
      return typeof value === 'function' ? value.bind(target) : value;
    },
  });
}

const names = new Map<string, string>();

/** Postgres keeps 63 bytes of a name. */
function nameOf(text: string): string {
  const known = names.get(text);
  if (known !== undefined) return known;
  const name = hash('sha256', text);
  names.set(text, name.slice(0, 60));
  return name.slice(0, 60);
}
