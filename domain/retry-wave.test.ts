import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { judgeAdmission } from './admission.ts';
import type { ItemGroup } from './admission-facts.ts';
import { DEFAULT_ALIASES } from './default-aliases.ts';
import { FAILURE_CODES, failure, failureClassOf, retryRuleOfCode } from './failure.ts';
import { outcomeWithoutRun } from './outcome.ts';
import { FEATURE } from './request-features.ts';
import { DEFAULT_RETRY_BACKOFF, WAVE_CLASSES } from './retry-policy.ts';
import { decideWave, type EndedGroup, quoteWave, type ReservedTerms, type WaveFacts } from './retry-wave.ts';
import { testCatalogue } from './testing/test-catalogue.ts';
import type { Calibration } from './token-calibration.ts';
import { tokenizerOf } from './tokenizer.ts';

const AT = new Date('2026-11-30T12:00:00Z');
const LATER = new Date('2026-11-30T13:00:00Z');

const MANIFEST: readonly ItemGroup[] = [
  {
    requestedModel: '',
    features: 0,
    tokenClass: 6,
    items: 10,
    bytes: 5_000,
    largestBytes: 600,
    inputTokens: 1_003,
    outputTokens: 2_000,
    uncappedItems: 0,
  },
  {
    requestedModel: '',
    features: FEATURE.REASONING,
    tokenClass: 9,
    items: 7,
    bytes: 9_000,
    largestBytes: 2_000,
    inputTokens: 5_001,
    outputTokens: 300,
    uncappedItems: 9,
  },
];

const CALIBRATION: Calibration = {
  library: 'test',
  models: [
    {
      requestedModel: '',
      target: { provider: 'openai', model: 'gpt-4o-mini' },
      tokenizer: tokenizerOf({ provider: 'openai', dialect: 'openai', model: 'gpt-4o-mini' }),
      bands: [{ band: 'short', items: 20, countedTokens: 700, tokenizerTokens: 913 }],
    },
  ],
};

function accepted(calibration: Calibration | null = null): { terms: ReservedTerms; reserved: bigint } {
  const { quote, targets } = judgeAdmission({
    mode: 'batch',
    jobId: 'job_1',
    catalogue: testCatalogue(),
    allowLists: [],
    region: null,
    providers: null,
    endpoint: 'chat.completions',
    requestedModel: 'openai/gpt-4o-mini',
    aliases: DEFAULT_ALIASES,
    groups: MANIFEST,
    calibration,
    outputHistory: [],
    margin: '0.10',
    maxCost: null,
    maxCostPricing: null,
    budgets: [],
    accountSuspension: null,
    suspensions: [],
    currency: 'USD',
    at: AT,
  });
  if (quote === null) throw new Error('the job is accepted');
  const byModel = new Map(targets.map((target) => [target.requestedModel, target]));
  return { terms: { groups: MANIFEST, calibration, margin: '0.10', targets: byModel }, reserved: quote.reserved };
}

/** Items of the first kind of the manifest, all of them unless said. */
function ended(overrides: Partial<EndedGroup> = {}): EndedGroup {
  const { uncappedItems: _, ...group } = MANIFEST[0] as ItemGroup;
  return { ...group, state: 'failed', code: 'provider_server_error', attempt: 1, itemsWithoutCap: 0, ...overrides };
}

function facts(overrides: Partial<WaveFacts> = {}): WaveFacts {
  const { terms, reserved } = accepted();
  const policy = { maxAttempts: 3, classes: WAVE_CLASSES, backoff: DEFAULT_RETRY_BACKOFF };
  const whole = { policy, ended: [ended()], terms, left: reserved, isCancelRequested: false };
  return { ...whole, deadline: null, startAt: AT, ...overrides };
}

describe('decideWave', () => {
  test.each<[string, Partial<WaveFacts>, string]>([
    ['items that failed', {}, 'wave'],
    ['no policy', { policy: null }, 'none'],
    ['no items', { ended: [] }, 'none'],
    ['items that may not be tried again', { ended: [ended({ code: 'safety_blocked' })] }, 'none'],
    ['a cancel', { isCancelRequested: true }, 'none'],
    ['a deadline before it would begin', { deadline: AT, startAt: LATER }, 'none'],
    ['a deadline as it would begin', { deadline: AT, startAt: AT }, 'none'],
    ['a deadline later on', { deadline: LATER, startAt: AT }, 'wave'],
    ['a hold that is used up', { left: 0n }, 'skip'],
    ['nothing to try again and nothing left', { left: 0n, ended: [] }, 'none'],
  ])('with %s', (_what, overrides, kind) => {
    expect(decideWave(facts(overrides)).kind).toBe(kind);
  });

  test('takes what may be tried again, and says which kinds these are', () => {
    const groups = [
      ended({ items: 3 }),
      ended({ items: 2, code: 'safety_blocked' }),
      ended({ items: 4, code: 'rate_limited', attempt: 2 }),
      ended({ items: 5, code: 'rate_limited', attempt: 3 }),
      ended({ items: 1, features: FEATURE.REASONING }),
    ];
    expect(decideWave(facts({ ended: groups }))).toMatchObject({
      items: 8,
      kinds: [
        { state: 'failed', code: 'provider_server_error', attempt: 1 },
        { state: 'failed', code: 'rate_limited', attempt: 2 },
      ],
    });
  });

  test('is skipped by one unit, and fits exactly', () => {
    const needed = quoteWave([ended()], accepted().terms);
    expect(decideWave(facts({ left: needed }))).toMatchObject({ kind: 'wave', needed });
    expect(decideWave(facts({ left: needed - 1n }))).toMatchObject({ kind: 'skip', needed, items: 10 });
  });

  test('never takes what completed, was blocked or has no try left, and never more than what is left', () => {
    const kinds = fc.oneof(
      fc.constant({ state: 'completed' as const, code: '' as const }),
      fc.constantFrom(...FAILURE_CODES).map((code) => ({ state: outcomeWithoutRun(failure(code, '')).status, code })),
    );
    const groups = fc.array(
      fc.record({ kind: kinds, attempt: fc.integer({ min: 1, max: 11 }), items: fc.integer({ min: 1, max: 50 }) }),
      { maxLength: 8 },
    );
    const policy = fc.record({
      maxAttempts: fc.integer({ min: 1, max: 10 }),
      classes: fc.subarray([...WAVE_CLASSES], { minLength: 1 }),
      backoff: fc.constant(DEFAULT_RETRY_BACKOFF),
    });
    const { terms, reserved } = accepted();
    fc.assert(
      fc.property(groups, policy, fc.bigInt({ min: 0n, max: reserved }), (drawn, wanted, left) => {
        const all = drawn.map(({ kind, attempt, items }) => ended({ ...kind, attempt, items }));
        const decision = decideWave(facts({ policy: wanted, ended: all, terms, left }));
        if (decision.kind === 'none') return;
        expect(decision.needed <= left).toBe(decision.kind === 'wave');
        if (decision.kind === 'skip') return;
        expect(decision.items).toBeGreaterThan(0);
        for (const { state, code, attempt } of decision.kinds) {
          if (code === '') throw new Error('an item that completed was taken');
          expect([state, retryRuleOfCode(code)]).toEqual(['failed', 'automatic']);
          expect(wanted.classes).toContain(failureClassOf(code));
          expect(attempt).toBeLessThan(wanted.maxAttempts);
        }
      }),
    );
  });
});

describe('quoteWave', () => {
  test.each([null, CALIBRATION])(
    'of a whole job, however its items failed, is what was reserved for it',
    (calibration) => {
      const { terms, reserved } = accepted(calibration);
      const [plain, reasoning] = MANIFEST.map((group) =>
        ended({ ...group, itemsWithoutCap: group.uncappedItems === 0 ? 0 : 6 }),
      );
      if (plain === undefined || reasoning === undefined) throw new Error('the manifest has two kinds');
      const half = { items: 5, inputTokens: 501, outputTokens: 1_000 };
      const rest = { items: 5, inputTokens: 502, outputTokens: 1_000, code: 'rate_limited' as const };
      expect(quoteWave([{ ...plain, ...half }, { ...plain, ...rest }, reasoning], terms)).toBe(reserved);
    },
  );

  test('of some items is their part: replies without a cap by their share, rounded up', () => {
    const { terms } = accepted();
    const one = ended({ ...MANIFEST[1], items: 1, inputTokens: 100, outputTokens: 0, itemsWithoutCap: 1 });
    // 100 × 0.075 + 2 × 8192 × 0.3 micro-dollars, and a tenth more.
    expect(quoteWave([one], terms)).toBe(((7_500_000n + 4_915_200_000n) * 11n) / 10n);
  });

  test('needs nothing for nothing', () => {
    expect(quoteWave([], accepted().terms)).toBe(0n);
  });
});
