import { describe, expect, test } from 'vitest';
import { type AdmissionFacts, type BudgetFact, type ItemGroup, judgeAdmission } from './admission.ts';
import { DEFAULT_ALIASES } from './model-alias.ts';
import { parseAmount } from './money.ts';
import { FEATURE } from './request-features.ts';

function group(overrides: Partial<ItemGroup> = {}): ItemGroup {
  return {
    requestedModel: '',
    features: 0,
    tokenClass: 6,
    items: 10,
    bytes: 5_000,
    largestBytes: 600,
    inputTokens: 1_000,
    outputTokens: 2_000,
    uncappedItems: 0,
    ...overrides,
  };
}

function facts(overrides: Partial<AdmissionFacts> = {}): AdmissionFacts {
  return {
    endpoint: 'chat.completions',
    requestedModel: 'openai/gpt-4o-mini',
    aliases: DEFAULT_ALIASES,
    groups: [group()],
    maxCost: null,
    budgets: [],
    currency: 'USD',
    at: new Date('2026-11-30T12:00:00Z'),
    ...overrides,
  };
}

function budget(overrides: Partial<BudgetFact> = {}): BudgetFact {
  const amounts = { limit: parseAmount('1'), held: 0n, settled: 0n };
  return {
    budgetId: 'bud_1',
    scope: 'tenant',
    scopeId: 'tenant_a',
    period: 'total',
    periodStart: '1970-01-01',
    ...amounts,
    ...overrides,
  };
}

/** 1,000 input tokens at 0.075 and 2,000 output tokens at 0.30 a million, plus a tenth. */
const RESERVED = parseAmount('0.0007425');

describe('a job that can run', () => {
  test('is priced in batch mode, with the margin on top', () => {
    const verdict = judgeAdmission(facts());
    expect(verdict).toMatchObject({ ok: true, findings: [], target: { provider: 'openai', model: 'gpt-4o-mini' } });
    expect(verdict.quote).toMatchObject({ items: 10, amount: parseAmount('0.000675'), reserved: RESERVED });
  });

  test('holds a documented default for items without an output cap, and more for those that reason', () => {
    const amountOf = (features: number) =>
      judgeAdmission(facts({ groups: [group({ features, outputTokens: 0, uncappedItems: 10 })] })).quote?.outputTokens;
    expect(amountOf(0)).toBe(10 * 2_048);
    expect(amountOf(FEATURE.REASONING)).toBe(10 * 8_192);
  });

  test('M-08: prices a whole token class at the dearer tier when its longest item may be in it', () => {
    const price = (tokenClass: number) =>
      judgeAdmission(
        facts({
          requestedModel: 'openai/gpt-5.5',
          groups: [group({ tokenClass, items: 1, inputTokens: 200_000, outputTokens: 0 })],
        }),
      ).quote?.amount;
    // The tier begins above 272,000 tokens; items of class 17 have at most 262,143, those of class 18 may have more.
    expect(price(18)).toBe((price(17) ?? 0n) * 2n);
  });

  test('prices items that name their own model as itself', () => {
    const groups = [group(), group({ requestedModel: 'openai/gpt-4o', items: 1 })];
    const verdict = judgeAdmission(facts({ groups }));
    expect(verdict.targets.map(({ requestedModel, target }) => [requestedModel, target.model])).toEqual([
      ['', 'gpt-4o-mini'],
      ['openai/gpt-4o', 'gpt-4o'],
    ]);
    expect(verdict.quote?.lines.map(({ model, items }) => [model, items])).toEqual([
      ['gpt-4o-mini', 10],
      ['gpt-4o', 1],
    ]);
  });

  test('B-04: a free model is accepted and costs nothing', () => {
    const verdict = judgeAdmission(
      facts({ endpoint: 'moderations', requestedModel: 'moderation', groups: [group({ outputTokens: 0 })] }),
    );
    expect(verdict.ok).toBe(true);
    expect(verdict.quote).toMatchObject({ reserved: 0n, lines: [{ batchBasis: 'free' }] });
  });
});

describe('a job that cannot run names what to fix', () => {
  const cases: [string, Partial<AdmissionFacts>, { error: string; field: string; items: number }][] = [
    ['an unknown model', { requestedModel: 'no-such' }, { error: 'model_unknown', field: 'model', items: 0 }],
    [
      'an unknown model of some items',
      { groups: [group(), group({ requestedModel: 'no-such', items: 3 })] },
      { error: 'model_unknown', field: 'items[*].request.model', items: 3 },
    ],
    [
      'a model without a price',
      { requestedModel: 'openai/gpt-unheard-of' },
      { error: 'price_unknown', field: 'model', items: 0 },
    ],
    [
      'a provider without an adapter',
      { requestedModel: 'anthropic/claude-haiku-4-5' },
      { error: 'endpoint_not_supported', field: 'model', items: 0 },
    ],
    [
      'an endpoint of another provider',
      { endpoint: 'messages' },
      { error: 'endpoint_not_supported', field: 'model', items: 0 },
    ],
    [
      'a model of another kind',
      { requestedModel: 'openai/text-embedding-3-small' },
      { error: 'endpoint_not_supported', field: 'model', items: 0 },
    ],
    ['another currency', { currency: 'EUR' }, { error: 'price_unknown', field: 'model', items: 0 }],
    [
      'malformed requests',
      { groups: [group(), group({ features: FEATURE.MALFORMED, items: 2 })] },
      { error: 'invalid_item', field: 'items[*].request', items: 2 },
    ],
    [
      'I-10: streaming',
      { groups: [group({ features: FEATURE.STREAM, items: 4 })] },
      { error: 'batch_capability_not_supported', field: 'items[*].request.stream', items: 4 },
    ],
    [
      'I-09: an item larger than a batch takes',
      { groups: [group({ largestBytes: 150_000_000 })] },
      { error: 'request_too_large', field: 'items[*].request', items: 1 },
    ],
  ];
  test.each(cases)('%s', (_, overrides, finding) => {
    const verdict = judgeAdmission(facts(overrides));
    expect(verdict.ok).toBe(false);
    expect(verdict.findings).toEqual([expect.objectContaining(finding)]);
    expect(verdict.quote).toBeNull();
  });

  test('every finding is told at once, and the money is not judged before they are fixed', () => {
    const groups = [group({ features: FEATURE.STREAM | FEATURE.MALFORMED }), group({ requestedModel: 'no-such' })];
    const verdict = judgeAdmission(facts({ groups, budgets: [budget({ limit: 0n })] }));
    expect(verdict.findings.map(({ error }) => error)).toEqual([
      'model_unknown',
      'invalid_item',
      'batch_capability_not_supported',
    ]);
  });
});

describe('money', () => {
  test('a reservation equal to what is available fits, one unit more does not', () => {
    const fits = (limit: bigint) => judgeAdmission(facts({ budgets: [budget({ limit })] }));
    expect(fits(RESERVED).ok).toBe(true);
    expect(fits(RESERVED - 1n).findings).toEqual([
      expect.objectContaining({ error: 'budget_exceeded', field: 'budget' }),
    ]);
  });

  test('what is held and settled counts against the limit, and every budget has to fit', () => {
    const tight = budget({
      budgetId: 'bud_2',
      scope: 'customer',
      scopeId: 'c',
      limit: RESERVED * 3n,
      held: RESERVED,
      settled: RESERVED + 1n,
    });
    const verdict = judgeAdmission(facts({ budgets: [budget(), tight] }));
    expect(verdict.budgets.map(({ fits }) => fits)).toEqual([true, false]);
    expect(verdict.findings).toHaveLength(1);
  });

  test('max_cost refuses a job that would hold more', () => {
    expect(judgeAdmission(facts({ maxCost: RESERVED })).ok).toBe(true);
    expect(judgeAdmission(facts({ maxCost: RESERVED - 1n })).findings).toEqual([
      expect.objectContaining({ error: 'max_cost_exceeded', field: 'max_cost' }),
    ]);
  });
});
