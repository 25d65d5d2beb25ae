import { CreateJob } from '../contracts/create-job.ts';
import { MoneyInput } from '../contracts/money.ts';
import { MAX_SAMPLE_ITEMS } from '../contracts/submit-job.ts';
import { TimestampInput } from '../contracts/text.ts';
import { closest } from './closest.ts';
import { usageError } from './errors.ts';
import type { Endpoint } from './rows/request-shape.ts';

const ENDPOINTS = CreateJob.shape.endpoint.options;

/** Throws a usage error, as all of these do, that names the option and what it takes. */
export function readEndpoint(given: string | undefined): Endpoint | undefined {
  return given === undefined ? undefined : oneOf('--endpoint', given, ENDPOINTS);
}

export function oneOf<Name extends string>(option: string, given: string, names: readonly Name[]): Name {
  const found = names.find((name) => name === given);
  if (found !== undefined) return found;
  const meant = closest(given, names);
  const hint = meant === null ? `It is one of ${names.join(', ')}.` : `Did you mean ${meant}?`;
  throw usageError(`${option} "${given}" is not known. ${hint}`, option);
}

/** A whole number from `min` to `max`. */
export function readCount(option: string, given: string, min: number, max = Number.MAX_SAFE_INTEGER): number {
  const value = /^\d+$/.test(given) ? Number(given) : Number.NaN;
  if (value >= min && value <= max) return value;
  const range = max === Number.MAX_SAFE_INTEGER ? `at least ${min}` : `from ${min} to ${max}`;
  throw usageError(`${option} must be a whole number, ${range}, not "${given}".`, option);
}

/** How many items of a draft to run first. */
export function readSample(given: string | undefined): number | undefined {
  return given === undefined ? undefined : readCount('--sample', given, 1, MAX_SAMPLE_ITEMS);
}

export function readMoney(option: string, given: string): string {
  if (MoneyInput.safeParse(given).success) return given;
  throw usageError(`${option} must be a plain decimal amount such as 25.00, not "${given}".`, option);
}

/** `k=v`, any number of times; the value may hold further equals signs. */
export function readMetadata(pairs: readonly string[] = []): { [key: string]: string } {
  return Object.fromEntries(
    pairs.map((pair) => {
      const equals = pair.indexOf('=');
      if (equals < 1) throw usageError(`--metadata must be KEY=VALUE, not "${pair}".`, '--metadata');
      return [pair.slice(0, equals), pair.slice(equals + 1)];
    }),
  );
}

/** A time with its zone, under the name of a field; nothing where it was not given. */
export function readTime<Field extends string>(
  field: Field,
  option: string,
  given: string | undefined,
): { readonly [name in Field]?: string } {
  if (given === undefined) return {};
  if (TimestampInput.safeParse(given).success) return { [field]: given } as { readonly [name in Field]?: string };
  throw usageError(`${option} must be a time with its zone, such as 2026-08-20T06:00:00Z, not "${given}".`, option);
}
