import { usageError } from './errors.ts';

/** An option that an action needs. Throws a usage error that names it. */
export function requireOption<Name extends string>(values: { readonly [name in Name]?: string }, name: Name): string {
  const given = values[name];
  if (given === undefined) throw usageError(`--${name} is needed for this.`, `--${name}`);
  return given;
}
