import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { ERROR_DIRECTIVES as ANTHROPIC_ERRORS } from './anthropic/errors.ts';
import { ANTHROPIC_FAULT_ROUTES } from './anthropic/fault-routes.ts';
import { AnthropicSettings } from './anthropic/settings.ts';
import { FaultAction } from './fault-actions.ts';
import { ERROR_DIRECTIVES as GEMINI_ERRORS } from './gemini/errors.ts';
import { GEMINI_FAULT_ROUTES } from './gemini/fault-routes.ts';
import { GeminiSettings } from './gemini/settings.ts';
import { ERROR_DIRECTIVES } from './openai/errors.ts';
import { OPENAI_FAULT_ROUTES } from './openai/fault-routes.ts';
import { OpenAiSettings } from './openai/settings.ts';

const README = readFileSync(new URL('README.md', import.meta.url), 'utf8');

test.for([
  { what: 'fault key', names: Object.keys(FaultAction.shape) },
  { what: 'OpenAI route', names: Object.keys(OPENAI_FAULT_ROUTES) },
  { what: 'Anthropic route', names: Object.keys(ANTHROPIC_FAULT_ROUTES) },
  { what: 'Gemini route', names: Object.keys(GEMINI_FAULT_ROUTES) },
  { what: 'OpenAI setting', names: Object.keys(OpenAiSettings.shape) },
  { what: 'Anthropic setting', names: Object.keys(AnthropicSettings.shape) },
  { what: 'Gemini setting', names: Object.keys(GeminiSettings.shape) },
  { what: 'error directive', names: ERROR_DIRECTIVES },
])('the README names every $what', ({ names }) => {
  expect(names.filter((name) => !new RegExp(`\`${name}\\b`).test(README))).toEqual([]);
});

test('every simulator knows the same error directives', () => {
  expect(ANTHROPIC_ERRORS.toSorted()).toEqual(ERROR_DIRECTIVES.toSorted());
  expect(GEMINI_ERRORS.toSorted()).toEqual(ERROR_DIRECTIVES.toSorted());
});

test('every fault key means something on some route', () => {
  const known = new Set(
    [OPENAI_FAULT_ROUTES, ANTHROPIC_FAULT_ROUTES, GEMINI_FAULT_ROUTES].flatMap(Object.values<readonly string[]>).flat(),
  );
  expect(Object.keys(FaultAction.shape).filter((key) => !known.has(key as keyof FaultAction))).toEqual([]);
});
