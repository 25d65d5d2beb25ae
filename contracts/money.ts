import { z } from 'zod';
import { parseAmount } from '../domain/money.ts';

const EXAMPLE = '184.20';

/** Money as it is shown: exact, at least two decimals. */
export const Money = z.string().meta({
  description: 'An exact decimal amount of the currency named beside it. At least two decimals; never a float.',
  example: EXAMPLE,
});

/** Money as it is asked for: a string, since a JSON number is a float. */
export const MoneyInput = z
  .string()
  .max(40)
  .refine((text) => isAmount(text), 'must be a plain decimal string that is not negative, such as "25.00"')
  .meta({ description: 'A plain decimal string, not negative, at most 12 decimals.', example: '25.00' });

export const Currency = z.string().meta({ description: 'ISO 4217 code.', example: 'USD' });

function isAmount(text: string): boolean {
  try {
    return parseAmount(text) >= 0n;
  } catch {
    return false;
  }
}

/** A currency as it is asked for. */
export const CurrencyInput = z
  .string()
  .regex(/^[A-Z]{3}$/, 'must be the code of a currency, such as "USD"')
  .meta({ description: 'ISO 4217 code.', example: 'USD' });
