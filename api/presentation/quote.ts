import type { Quote } from '../../contracts/quote.ts';
import type { StoredQuote } from '../../db/submissions.ts';

export function presentQuote(stored: StoredQuote, currency: string): Quote {
  return {
    ...stored,
    currency,
    lines: [...stored.lines],
    targets: stored.targets.map(({ requested_model, provider, model }) => ({ requested_model, provider, model })),
  };
}
