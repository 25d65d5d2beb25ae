import { type AdmissionFacts, type ItemGroup, PRICE_OF_MODE } from './admission-facts.ts';
import type { ChosenTarget } from './judge-target.ts';
import { buildQuote, type ExpectedOutput, type Quote, type QuoteGroup } from './quote.ts';
import { hasFeature } from './request-features.ts';
import { applyFactor, atLeastOne, type CalibrationFactor, calibrationFactor } from './token-calibration.ts';

/** What a quote is made of beside the targets. */
interface QuotedFacts extends Pick<AdmissionFacts, 'mode' | 'groups' | 'calibration' | 'margin'> {
  readonly priceBookVersion: string;
}

type QuotedTarget = Pick<ChosenTarget, 'target' | 'price' | 'replies'>;

/** The estimate of items whose every model has a target. */
export function quoteJob(facts: QuotedFacts, chosen: ReadonlyMap<string, QuotedTarget>): Quote {
  const groups: QuoteGroup[] = [];
  const expected: ExpectedOutput[] = [];
  for (const group of facts.groups) {
    const found = chosen.get(group.requestedModel);
    if (found === undefined) throw new Error(`group of unjudged model ${group.requestedModel}`);
    const outputs = expectOutput(group, found);
    expected.push(...outputs);
    groups.push({
      price: found.price,
      items: group.items,
      ...calibrateInput(group, calibrationFactor(facts.calibration, group, found.target)),
      outputTokens: outputs.reduce((sum, { tokens }) => sum + tokens, 0),
    });
  }
  return buildQuote(groups, PRICE_OF_MODE[facts.mode], {
    margin: facts.margin,
    priceBookVersion: facts.priceBookVersion,
    inputs: {
      countedInputTokens: facts.groups.reduce((sum, { inputTokens }) => sum + inputTokens, 0),
      calibration: facts.calibration,
      expectedOutput: addUp(expected),
    },
  });
}

/**
 * Every item of a token class is priced as if it were the longest of its class: an upper bound at a tier's edge, which a
 * factor below 1 does not lower, since it is that of the average item.
 */
function calibrateInput(
  { inputTokens, tokenClass }: ItemGroup,
  factor: CalibrationFactor,
): Pick<QuoteGroup, 'inputTokens' | 'longestInputTokens'> {
  return {
    inputTokens: applyFactor(inputTokens, factor),
    longestInputTokens: applyFactor(2 ** (tokenClass + 1) - 1, atLeastOne(factor)),
  };
}

function expectOutput(group: ItemGroup, { target, replies }: QuotedTarget): ExpectedOutput[] {
  const { requestedModel, uncappedItems, outputTokens } = group;
  const expected: ExpectedOutput[] = [];
  const of = { requestedModel, target };
  if (outputTokens > 0) {
    const none = { reasons: null, replies: null, tokensEach: null, knownReplies: 0 };
    expected.push({ ...of, ...none, method: 'cap', tokens: outputTokens });
  }
  if (uncappedItems > 0) {
    const reasons = hasFeature(group.features, 'REASONING');
    const { tokens, method, knownReplies } = reasons ? replies.reasoning : replies.plain;
    const each = { replies: uncappedItems, tokensEach: tokens, tokens: uncappedItems * tokens };
    expected.push({ ...of, method, reasons, knownReplies, ...each });
  }
  return expected;
}

/** One row for all groups of a model that are expected to answer alike. */
function addUp(expected: readonly ExpectedOutput[]): ExpectedOutput[] {
  const alike = Map.groupBy(expected, ({ requestedModel, method, reasons }) =>
    JSON.stringify([requestedModel, method, reasons]),
  );
  return [...alike.values()].flatMap((rows) => {
    const [first] = rows;
    if (first === undefined) return [];
    const replies = rows.reduce((sum, row) => sum + (row.replies ?? 0), 0);
    const tokens = rows.reduce((sum, row) => sum + row.tokens, 0);
    return [{ ...first, replies: first.replies === null ? null : replies, tokens }];
  });
}
