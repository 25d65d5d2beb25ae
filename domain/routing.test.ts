import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { DEFAULT_ALIASES } from './default-aliases.ts';
import type { AliasTarget } from './model-alias.ts';
import { listCandidates, orderTargets } from './routing.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

function target(provider: string, model: string, weight: number | null = null): AliasTarget {
  return { provider, model, region: null, weight };
}

const ALIASES = {
  ...DEFAULT_ALIASES,
  'gpt-4o': [target('gemini', 'gemini-2.5-pro')],
  broken: [],
};
const catalogue = testCatalogue();
const namesOf = (name: string) =>
  listCandidates(name, { aliases: ALIASES, catalogue, jobId: 'job_1' }).map(
    ({ provider, model }) => `${provider}/${model}`,
  );

test.each([
  [
    'an alias, target by target',
    'analysis-large',
    ['openai/gpt-5.6-terra', 'anthropic/claude-sonnet-5-5', 'gemini/gemini-3.8-flash'],
  ],
  ['an alias named like a model, before the model', 'gpt-4o', ['gemini/gemini-2.5-pro']],
  ['provider/model', 'anthropic/claude-haiku-4-5', ['anthropic/claude-haiku-4-5']],
  ['provider/model that the price book does not know', 'openai/ft:gpt-4o/x', ['openai/ft:gpt-4o/x']],
  ['a plain id of the price book', 'gemini-2.5-flash', ['gemini/gemini-2.5-flash']],
  ['a dated snapshot', 'gpt-4o-mini-2024-07-18', ['openai/gpt-4o-mini-2024-07-18']],
])('resolves %s', (_what, name, targets) => {
  expect(namesOf(name)).toEqual(targets);
});

test.each([
  '',
  '/',
  'openai/',
  '/gpt-4o-mini',
  'azure/gpt-4o-mini',
  'no-such-model',
  'broken',
  'constructor',
  '__proto__',
])('does not know %j', (name) => {
  expect(namesOf(name)).toEqual([]);
});

test('every target of a default alias has a batch price and can be run', () => {
  for (const { provider, model } of Object.values(DEFAULT_ALIASES).flat()) {
    expect(catalogue.prices.find(provider, model, new Date('2026-11-30T00:00:00Z'))?.batch).toBeTruthy();
    const endpoints = ['chat.completions', 'embeddings', 'moderations'] as const;
    expect(endpoints.some((endpoint) => catalogue.findCapability(provider, endpoint, model) !== null)).toBe(true);
  }
});

describe('weights', () => {
  const first = (targets: readonly AliasTarget[], seed: string) => orderTargets(targets, seed)[0]?.model;
  const anyTargets = fc
    .uniqueArray(
      fc.tuple(fc.stringMatching(/^[a-z]{1,8}$/), fc.option(fc.integer({ min: 0, max: 1_000 }), { nil: null })),
      { minLength: 1, maxLength: 6, selector: ([model]) => model },
    )
    .map((drawn) => drawn.map(([model, weight]) => target('openai', model, weight)));

  test('keep every target, leave those without a weight in their places, and give the same order every time', () => {
    fc.assert(
      fc.property(anyTargets, fc.string(), (targets, seed) => {
        const ordered = orderTargets(targets, seed);
        expect(ordered.toSorted(byModel)).toEqual(targets.toSorted(byModel));
        for (const [index, { weight }] of targets.entries())
          if (weight === null) expect(ordered[index]).toBe(targets[index]);
        expect(orderTargets(targets, seed)).toEqual(ordered);
      }),
    );
  });

  test('are the shares of jobs that try a target first', () => {
    const anyWeights = fc.array(fc.integer({ min: 1, max: 1_000 }), { minLength: 2, maxLength: 5 });
    const draws = 3_000;
    fc.assert(
      fc.property(anyWeights, fc.string(), (weights, salt) => {
        const targets = weights.map((weight, index) => target('openai', `m${index}`, weight));
        const total = weights.reduce((sum, weight) => sum + weight, 0);
        const counts = Map.groupBy(
          Array.from({ length: draws }, (_, index) => first(targets, `${salt}${index}`)),
          (model) => model,
        );
        for (const [index, weight] of weights.entries()) {
          // Six standard deviations of a fair draw, and some for weights so small that draws are rare.
          const share = weight / total;
          const tolerance = 6 * Math.sqrt(draws * share * (1 - share)) + 5;
          expect(Math.abs((counts.get(`m${index}`)?.length ?? 0) - draws * share)).toBeLessThanOrEqual(tolerance);
        }
      }),
      { numRuns: 30 },
    );
  });

  test('of all zero keep the written order', () => {
    const targets = [target('openai', 'a', 0), target('openai', 'b', 0)];
    expect(orderTargets(targets, 'x')).toEqual(targets);
  });
});

function byModel(one: AliasTarget, other: AliasTarget): number {
  return one.model < other.model ? -1 : 1;
}
