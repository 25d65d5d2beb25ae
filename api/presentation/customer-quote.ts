import type { Quote } from '../../contracts/quote.ts';
import { type CustomerPricing, customerEstimate, customerQuote } from '../../domain/customer-pricing.ts';
import { formatAmount, parseAmount } from '../../domain/money.ts';

/** A batch job's quote in a customer's own prices; what is said of where the tenant's price comes from is left out. */
export function inCustomerPrices(quote: Quote, pricing: CustomerPricing): Quote {
  const lines = quote.lines.map((line) => ({
    provider: line.provider,
    model: line.model,
    items: line.items,
    inputTokens: line.input_tokens,
    outputTokens: line.output_tokens,
    amount: parseAmount(line.estimated),
  }));
  const { amount, reserved } = customerQuote(pricing, lines, { margin: quote.margin, mode: 'batch' });
  return {
    ...quote,
    estimated: formatAmount(amount),
    reserved: formatAmount(reserved),
    lines: quote.lines.map((line, index) => {
      const own = lines[index];
      return {
        ...line,
        estimated: own === undefined ? line.estimated : formatAmount(customerEstimate(pricing, own, 'batch')),
        batch_price: 'override',
        note: null,
      };
    }),
  };
}
