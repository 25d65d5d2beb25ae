import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { FaultAction } from './fault-actions.ts';
import { ERROR_DIRECTIVES } from './openai/errors.ts';
import { OPENAI_FAULT_ROUTES } from './openai/fault-routes.ts';
import { OpenAiSettings } from './openai/settings.ts';

const README = readFileSync(new URL('README.md', import.meta.url), 'utf8');

test.for([
  { what: 'fault key', names: Object.keys(FaultAction.shape) },
  { what: 'route', names: Object.keys(OPENAI_FAULT_ROUTES) },
  { what: 'setting', names: Object.keys(OpenAiSettings.shape) },
  { what: 'error directive', names: ERROR_DIRECTIVES },
])('the README names every $what', ({ names }) => {
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(README))).toEqual([]);
});

test('every fault key means something on some route', () => {
  const known = new Set(Object.values(OPENAI_FAULT_ROUTES).flat());
  expect(Object.keys(FaultAction.shape).filter((key) => !known.has(key as keyof FaultAction))).toEqual([]);
});
