import { divideHalfEven } from './rounding.ts';

/** Money in units of 10^-12 of its currency. Exact: nothing inside the gateway rounds it. */
export type Amount = bigint;

/** Decimal places of an Amount; rows hold the same as `numeric(38,12)`. */
const AMOUNT_DECIMALS = 12;
/** Units in one whole unit of the currency. */
export const AMOUNT_SCALE: Amount = 10n ** 12n;

/** `numeric(38,12)` leaves 26 digits before the point. */
const MAX_WHOLE_DIGITS = 26;
const PUBLIC_MIN_DECIMALS = 2;
const DECIMAL = /^(-?)(0|[1-9][0-9]*)(?:\.([0-9]+))?$/;

/**
 * Reads an exact decimal string such as `184.20`: an optional minus, no plus, no exponent, no white space, no leading
 * zeros, at most 12 decimals and 26 whole digits. Throws RangeError with the reason.
 */
export function parseAmount(decimal: string): Amount {
  const match = DECIMAL.exec(decimal);
  if (match === null) throw new RangeError(`not a plain decimal number: ${JSON.stringify(decimal.slice(0, 40))}`);
  const [, sign = '', whole = '', fraction = ''] = match;
  if (whole.length > MAX_WHOLE_DIGITS) throw new RangeError(`more than ${MAX_WHOLE_DIGITS} digits before the point`);
  if (fraction.length > AMOUNT_DECIMALS) throw new RangeError(`more than ${AMOUNT_DECIMALS} decimals`);
  const amount = BigInt(whole + fraction.padEnd(AMOUNT_DECIMALS, '0'));
  return sign === '-' ? -amount : amount;
}

/** The exact public form: at least two decimals, further trailing zeros trimmed. */
export function formatAmount(amount: Amount): string {
  const text = formatNumeric(amount);
  let end = text.length;
  const shortest = text.length - AMOUNT_DECIMALS + PUBLIC_MIN_DECIMALS;
  while (end > shortest && text[end - 1] === '0') end -= 1;
  return text.slice(0, end);
}

/** The form of a `numeric(38,12)` parameter: plain decimal, always 12 digits after the point. */
export function formatNumeric(amount: Amount): string {
  return formatFixed(amount, AMOUNT_DECIMALS);
}

/** Reads `numeric(38,12)` as Postgres prints it. Throws RangeError on NaN, infinity or anything finer. */
export function parseNumeric(numeric: string): Amount {
  return parseAmount(numeric);
}

/** For a billing system that takes only so many decimals: rounded once, half to even, with exactly that many. */
export function roundForExport(amount: Amount, decimals: number): string {
  if (!Number.isInteger(decimals) || decimals < 0 || decimals > AMOUNT_DECIMALS) {
    throw new RangeError(`decimals must be a whole number from 0 to ${AMOUNT_DECIMALS}`);
  }
  return formatFixed(divideHalfEven(amount, 10n ** BigInt(AMOUNT_DECIMALS - decimals)), decimals);
}

function formatFixed(units: bigint, decimals: number): string {
  const digits = (units < 0n ? -units : units).toString().padStart(decimals + 1, '0');
  const whole = digits.slice(0, digits.length - decimals);
  const fraction = decimals === 0 ? '' : `.${digits.slice(digits.length - decimals)}`;
  return `${units < 0n ? '-' : ''}${whole}${fraction}`;
}
