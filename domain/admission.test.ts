import { describe, expect, test } from 'vitest';
import { judgeAdmission } from './admission.ts';
import type { AdmissionFacts, BudgetFact, ItemGroup } from './admission-facts.ts';
import { DEFAULT_ALIASES } from './default-aliases.ts';
import { parseAmount } from './money.ts';
import { FEATURE } from './request-features.ts';
import { testCatalogue } from './testing/test-catalogue.ts';

const CATALOGUE = testCatalogue();

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
    mode: 'batch',
    jobId: 'job_1',
    catalogue: CATALOGUE,
    allowLists: [],
    region: null,
    providers: null,
    endpoint: 'chat.completions',
    requestedModel: 'openai/gpt-4o-mini',
    aliases: DEFAULT_ALIASES,
    groups: [group()],
    calibration: null,
    outputHistory: [],
    margin: '0.10',
    maxCost: null,
    budgets: [],
    accountSuspension: null,
    suspensions: [],
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
      'a native endpoint of another provider',
      { endpoint: 'responses', requestedModel: 'anthropic/claude-haiku-4-5' },
      { error: 'endpoint_not_supported', field: 'model', items: 0 },
    ],
    [
      'a provider there is not',
      { aliases: { house: [{ provider: 'nobody', model: 'x', region: null, weight: null }] }, requestedModel: 'house' },
      { error: 'model_unknown', field: 'model', items: 0 },
    ],
    ['another region', { region: 'eu' }, { error: 'target_excluded', field: 'execution.region', items: 0 }],
    [
      'a provider the job does not want',
      { providers: ['gemini'] },
      { error: 'target_excluded', field: 'execution.providers', items: 0 },
    ],
    [
      'a model that is not on the list',
      { allowLists: [{ of: 'key', models: ['analysis-small'], providers: null }] },
      { error: 'model_not_allowed', field: 'model', items: 0 },
    ],
    [
      'a provider that is not on the list, for some items',
      {
        allowLists: [{ of: 'tenant', models: null, providers: ['openai'] }],
        groups: [group(), group({ requestedModel: 'gemini/gemini-2.5-pro', items: 3 })],
      },
      { error: 'model_not_allowed', field: 'items[*].request.model', items: 3 },
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

describe('targets', () => {
  const [large] = ['analysis-large'];
  const errors = (overrides: Partial<AdmissionFacts>) => {
    const { target, rejectedTargets } = judgeAdmission(facts({ requestedModel: large, ...overrides }));
    return [target?.provider ?? null, rejectedTargets.map(({ target: { provider }, error }) => `${provider} ${error}`)];
  };

  test.each<[string, Partial<AdmissionFacts>, unknown]>([
    ['the first', {}, ['openai', []]],
    ['the first of its region', { region: 'us' }, ['anthropic', ['openai target_excluded']]],
    [
      'none where no target promises a region',
      { region: 'ch' },
      [null, ['openai', 'anthropic', 'gemini'].map((provider) => `${provider} target_excluded`)],
    ],
    ['the one that promises nothing, for those who ask for that', { region: 'global' }, ['openai', []]],
    [
      'the first of a provider wanted',
      { providers: ['gemini'] },
      ['gemini', ['openai target_excluded', 'anthropic target_excluded']],
    ],
    [
      'the first allowed by provider',
      { allowLists: [{ of: 'tenant', models: null, providers: ['anthropic'] }] },
      ['anthropic', ['openai model_not_allowed']],
    ],
    [
      'the first allowed by every list',
      {
        allowLists: [
          { of: 'tenant', models: [large], providers: null },
          { of: 'key', models: ['gpt-4o', 'gemini/gemini-3.8-flash'], providers: null },
        ],
      },
      ['gemini', ['openai model_not_allowed', 'anthropic model_not_allowed']],
    ],
    [
      'the first that can do what items ask for',
      { endpoint: 'chat.completions', providers: ['anthropic', 'gemini'], groups: [group({ features: FEATURE.SEED })] },
      ['gemini', ['openai target_excluded', 'anthropic batch_capability_not_supported']],
    ],
  ])('a job is given %s', (_what, overrides, expected) => {
    expect(errors(overrides)).toEqual(expected);
  });

  test('a target of an alias may process data elsewhere than its provider does by itself', () => {
    const aliases = { house: [{ provider: 'openai', model: 'gpt-4o-mini', region: 'ch', weight: null }] };
    const verdict = judgeAdmission(facts({ aliases, requestedModel: 'house', region: 'ch' }));
    expect(verdict.targets).toMatchObject([{ target: { provider: 'openai' }, region: 'ch' }]);
  });

  test('every model asked for is judged by the items that ask for it, and by its own provider', () => {
    const groups = [
      group({ features: FEATURE.LOGPROBS | FEATURE.SEED }),
      group({ requestedModel: 'anthropic/claude-haiku-4-5', features: FEATURE.STREAM | FEATURE.SEED, items: 3 }),
      group({ requestedModel: 'anthropic/claude-haiku-4-5', features: FEATURE.SEED, items: 4 }),
      group({ requestedModel: 'gemini/gemini-2.5-pro', features: FEATURE.SEED | FEATURE.STREAM, items: 5 }),
      group({ requestedModel: 'gemini/gemini-2.5-flash', features: FEATURE.SEED, items: 6 }),
    ];
    const { findings, targets, rejectedTargets } = judgeAdmission(facts({ groups }));
    expect(findings.map(({ field, items, rows }) => [field, items, rows])).toEqual([
      [
        'items[*].request.stream',
        8,
        { feature: 'STREAM', requestedModels: ['anthropic/claude-haiku-4-5', 'gemini/gemini-2.5-pro'] },
      ],
      ['items[*].request.seed', 7, { feature: 'SEED', requestedModels: ['anthropic/claude-haiku-4-5'] }],
    ]);
    expect(targets.map(({ requestedModel }) => requestedModel)).toEqual(['', 'gemini/gemini-2.5-flash']);
    expect(rejectedTargets.map(({ requestedModel }) => requestedModel)).toEqual([
      'anthropic/claude-haiku-4-5',
      'gemini/gemini-2.5-pro',
    ]);
  });

  test('where none can run the items, the findings are those of the first, every feature of them', () => {
    const features = FEATURE.STREAM | FEATURE.AUDIO_INPUT | FEATURE.SEED;
    const { findings, rejectedTargets } = judgeAdmission(
      facts({ requestedModel: large, groups: [group({ features })] }),
    );
    expect(findings.map(({ field }) => field)).toEqual(['items[*].request.stream', 'items[*].request.messages']);
    expect(rejectedTargets).toHaveLength(3);
  });

  test('one that an admin took out of batch mode is passed over', () => {
    const override = {
      provider: 'openai',
      endpoint: 'chat.completions',
      model: 'gpt-5.6-*',
      feature: null,
      isAllowed: false,
      reason: 'Stuck.',
    } as const;
    const catalogue = testCatalogue({ capabilities: [override] });
    expect(errors({ catalogue })).toEqual(['anthropic', ['openai endpoint_not_supported']]);
  });

  test('the price and the capability it was chosen by come with it', () => {
    const [chosen] = judgeAdmission(facts({ requestedModel: large })).targets;
    expect(chosen).toMatchObject({
      price: { provider: 'openai', model: 'gpt-5.6-terra' },
      capability: { endpoint: 'chat.completions', limits: { maxItems: 50_000 } },
    });
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

  test('a scope that is suspended starts nothing, and the refusal says why and what lifts it', () => {
    const suspension = { suspensionId: 'susp_1', scope: 'customer' as const, scopeId: 'c' };
    const tight = budget({ limit: 0n });
    const { ok, quote, findings } = judgeAdmission(facts({ suspensions: [suspension], budgets: [tight] }));
    expect(ok).toBe(false);
    expect(quote).not.toBeNull();
    expect(findings.map(({ error }) => error)).toEqual(['spending_suspended', 'budget_exceeded']);
    expect(findings[0]).toMatchObject({
      field: 'customer_id',
      message: expect.stringMatching(/customer c: .*lift susp_1/),
    });
  });

  test('a suspended account starts nothing, and is told so before all else', () => {
    const accountSuspension = { of: 'customer' as const, reason: 'an unpaid bill' };
    const { ok, quote, findings } = judgeAdmission(facts({ accountSuspension, requestedModel: 'nothing' }));
    expect([ok, quote]).toEqual([false, null]);
    expect(findings.map(({ error }) => error)).toEqual(['tenant_suspended', 'model_unknown']);
    expect(findings[0]).toMatchObject({ field: 'customer_id', message: expect.stringContaining('an unpaid bill') });
  });

  test('max_cost refuses a job that would hold more', () => {
    expect(judgeAdmission(facts({ maxCost: RESERVED })).ok).toBe(true);
    expect(judgeAdmission(facts({ maxCost: RESERVED - 1n })).findings).toEqual([
      expect.objectContaining({ error: 'max_cost_exceeded', field: 'max_cost' }),
    ]);
  });
});
