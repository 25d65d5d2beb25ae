/** What a provider says that its queue takes at once, null where it does not say. */
export interface NamedQueueLimit {
  readonly inputTokens: number | null;
  readonly items: number | null;
}

const LIMIT =
  /\blimit(?: is| of)?:? ?([0-9][0-9,._' ]{0,20}) ?(?:enqueued |queued |input |batch )*(tokens?|requests?)\b/i;

/**
 * The limit in the words of a refusal, such as OpenAI's "Limit: 2,000,000 enqueued tokens" (the message of
 * `token_limit_exceeded`, as seen in public issue threads). The words are no contract: what does not fit is not known.
 */
export function readQueueLimit(message: string): NamedQueueLimit {
  const [, digits = '', unit = ''] = LIMIT.exec(message) ?? [];
  const limit = Number(digits.replaceAll(/[^0-9]/g, ''));
  const isKnown = digits !== '' && Number.isSafeInteger(limit) && limit > 0;
  if (!isKnown) return { inputTokens: null, items: null };
  return /^token/i.test(unit) ? { inputTokens: limit, items: null } : { inputTokens: null, items: limit };
}
