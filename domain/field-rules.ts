import type { Findings } from './findings.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** The feature bits a value asks for, or what is wrong with it. */
export type FieldRule = (value: unknown) => number | string;

export type FieldRules = ReadonlyMap<string, FieldRule>;

/**
 * Checks the members of `object` against rules. Null means absent, as the providers read it. A member without a rule
 * is no problem, for providers add members faster than gateways learn them: it sets UNKNOWN_FIELD.
 */
export function inspectFields(object: JsonObject, rules: FieldRules, path: string, findings: Findings): void {
  for (const name of Object.keys(object)) {
    const value = object[name];
    if (value === null || value === undefined) continue;
    const verdict = rules.get(name)?.(value) ?? FEATURE.UNKNOWN_FIELD;
    if (typeof verdict === 'string') findings.problem(`${path}.${name}`, verdict);
    else if (verdict !== 0) findings.feature(verdict, path, name);
  }
}

export function boolean(feature = 0): FieldRule {
  return (value) => (typeof value === 'boolean' ? (value ? feature : 0) : 'must be true or false');
}

export function number(min: number, max: number, feature = 0): FieldRule {
  return (value) =>
    typeof value === 'number' && value >= min && value <= max ? feature : `must be a number from ${min} to ${max}`;
}

export function integer(feature = 0): FieldRule {
  return (value) => (Number.isSafeInteger(value) ? feature : 'must be a whole number');
}

export function positiveInteger(feature = 0): FieldRule {
  return (value) =>
    Number.isSafeInteger(value) && (value as number) > 0 ? feature : 'must be a whole number greater than 0';
}

/** OpenAI's own limit on `n`; none of the others allows more. */
const MAX_CHOICES = 128;

/** A count of alternatives: more than one is MULTIPLE_CHOICES. */
export function choices(): FieldRule {
  return (value) => {
    if (!Number.isSafeInteger(value) || (value as number) < 1 || (value as number) > MAX_CHOICES) {
      return `must be a whole number from 1 to ${MAX_CHOICES}`;
    }
    return value === 1 ? 0 : FEATURE.MULTIPLE_CHOICES;
  };
}

export function text(feature = 0): FieldRule {
  return (value) => (typeof value === 'string' ? feature : 'must be a string');
}

export function nonEmptyText(feature = 0): FieldRule {
  return (value) => (typeof value === 'string' && value.trim() !== '' ? feature : 'must be a non-empty string');
}

export function object(feature = 0): FieldRule {
  return (value) => (isJsonObject(value) ? feature : 'must be an object');
}

export function list(feature = 0): FieldRule {
  return (value) => (Array.isArray(value) ? (value.length > 0 ? feature : 0) : 'must be a list');
}

export function textList(feature = 0): FieldRule {
  return (value) =>
    Array.isArray(value) && value.every((entry) => typeof entry === 'string')
      ? value.length > 0
        ? feature
        : 0
      : 'must be a list of strings';
}

export function textOrObject(feature = 0): FieldRule {
  return (value) => (typeof value === 'string' || isJsonObject(value) ? feature : 'must be a string or an object');
}

export function either(first: FieldRule, second: FieldRule, message: string): FieldRule {
  return (value) => {
    const verdict = first(value);
    const other = typeof verdict === 'string' ? second(value) : verdict;
    return typeof other === 'string' ? message : other;
  };
}

/** A string that asks for a feature unless it is one of the ordinary words. */
export function wordUnless(ordinary: readonly string[], feature: number): FieldRule {
  return (value) => (typeof value === 'string' ? (ordinary.includes(value) ? 0 : feature) : 'must be a string');
}

/** A member of the right form that only the request's first provider understands. */
export function specific(rule: FieldRule): FieldRule {
  return (value) => {
    const verdict = rule(value);
    return typeof verdict === 'string' ? verdict : verdict | FEATURE.PROVIDER_SPECIFIC;
  };
}

/** An empty list or map of the right form asks for nothing. */
export function unlessEmpty(rule: FieldRule): FieldRule {
  return (value) => {
    const verdict = rule(value);
    const isEmpty = Array.isArray(value) ? value.length === 0 : isJsonObject(value) && Object.keys(value).length === 0;
    return typeof verdict === 'number' && isEmpty ? 0 : verdict;
  };
}

/** Every member of any shape, for values that are checked elsewhere. */
export function checkedApart(): FieldRule {
  return () => 0;
}
