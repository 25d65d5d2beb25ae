/** What was read, or why it was not: a reason without the text itself. */
export type Reading<Value> =
  | { readonly ok: true; readonly value: Value }
  | { readonly ok: false; readonly reason: string };

/** A sum of all the world's money has fewer. */
const MAX_DIGITS = 40;
const MAX_LENGTH = 100;

const SPACE = /[\s\u00a0\u2007\u2009\u202f]+/gu;
const MINUS = /[\u2212\u2013\ufe63\uff0d]/gu;
/** Signs, with letters before them as in `US$`, and words that are no ISO 4217 code. */
const SIGN = String.raw`[A-Z]{0,3}\p{Sc}|kr\.?|zł|Kč|Ft|Fr\.?|Rs\.?`;
const SYMBOL_FIRST = new RegExp(`^(?:${SIGN}|([A-Z]{3}))(?=[ \\d.,+(-]) ?`, 'u');
const SYMBOL_LAST = new RegExp(` ?(?:${SIGN}|([A-Z]{3}))$`, 'u');
const CURRENCIES: ReadonlySet<string> = new Set(Intl.supportedValuesOf('currency'));

const NOT_A_NUMBER: Reading<never> = { ok: false, reason: 'is not a number' };
const AMBIGUOUS: Reading<never> = {
  ok: false,
  reason:
    'is ambiguous: its comma may stand before decimals or between thousands; write a point before decimals, and nothing between thousands',
};

/** How people write digits; the first that fits decides. `d` and `c` are what stands before decimals. */
const FORMS: readonly { readonly pattern: RegExp; readonly group: RegExp | null; readonly point: '.' | ',' }[] = [
  { pattern: /^\d+(\.\d+)?$|^\.\d+$/, group: null, point: '.' },
  // 1 234,50 and 1'234.50
  { pattern: /^\d{1,3}([ '’])\d{3}(\1\d{3})*(\.\d+)?$/, group: /[ '’]/g, point: '.' },
  { pattern: /^\d{1,3}([ '’])\d{3}(\1\d{3})*,\d+$/, group: /[ '’]/g, point: ',' },
  // 1,234.50 and 12,34,567.00; without decimals only where two commas leave no doubt
  { pattern: /^\d{1,3}(,\d{2,3})*,\d{3}\.\d+$/, group: /,/g, point: '.' },
  { pattern: /^\d{1,3}(,\d{2,3})+,\d{3}$/, group: /,/g, point: '.' },
  // 1.234,50 and 1.234.567
  { pattern: /^\d{1,3}(\.\d{3})+,\d+$/, group: /\./g, point: ',' },
  { pattern: /^\d{1,3}(\.\d{3}){2,}$/, group: /\./g, point: ',' },
  { pattern: /^\d+,\d+$/, group: null, point: ',' },
];
const DOUBTFUL_COMMA = /^[1-9]\d{0,2},\d{3}$/;

/**
 * A number as people write it, as an exact decimal with a point: `1,234.50`, `1.234,50`, `1 234,50`, `1'234.50`, `(12)`,
 * `12-`, with a currency sign or ISO 4217 code before or after it. Zeros after the point are kept. A point alone stands
 * before decimals; a comma alone before exactly three digits is ambiguous and refused.
 */
export function readDecimal(text: string): Reading<string> {
  if (text.length > MAX_LENGTH) return NOT_A_NUMBER;
  const bare = withoutCurrencyAndSign(text.replace(MINUS, '-').replace(SPACE, ' ').trim());
  if (bare === null) return NOT_A_NUMBER;
  if (DOUBTFUL_COMMA.test(bare.digits)) return AMBIGUOUS;
  const form = FORMS.find(({ pattern }) => pattern.test(bare.digits));
  if (form === undefined) return NOT_A_NUMBER;
  const ungrouped = form.group === null ? bare.digits : bare.digits.replace(form.group, '');
  const [whole = '', decimals] = ungrouped.split(form.point);
  if (whole.length + (decimals ?? '').length > MAX_DIGITS) return { ok: false, reason: 'has too many digits' };
  const trimmed = whole.replace(/^0+(?=\d)/, '') || '0';
  const absolute = decimals === undefined ? trimmed : `${trimmed}.${decimals}`;
  const isZero = !/[1-9]/.test(absolute);
  return { ok: true, value: bare.isNegative && !isZero ? `-${absolute}` : absolute };
}

/** Null where there is more than one sign or currency. */
function withoutCurrencyAndSign(text: string): { digits: string; isNegative: boolean } | null {
  let rest = text;
  let signs = 0;
  let isNegative = false;
  let symbols = 0;
  const strip = (pattern: RegExp, meaning: 'plus' | 'minus' | 'symbol') => {
    const found = pattern.exec(rest);
    if (found === null || (found[1] !== undefined && !CURRENCIES.has(found[1]))) return;
    rest = rest.replace(pattern, '').trim();
    if (meaning === 'symbol') symbols += 1;
    else signs += 1;
    if (meaning === 'minus') isNegative = true;
  };
  for (let round = 0; round < 2; round += 1) {
    if (/^\(.*\)$/.test(rest)) {
      rest = rest.slice(1, -1).trim();
      signs += 1;
      isNegative = true;
    }
    strip(/^\+/, 'plus');
    strip(/^-/, 'minus');
    strip(/-$/, 'minus');
    strip(SYMBOL_FIRST, 'symbol');
    strip(SYMBOL_LAST, 'symbol');
  }
  return signs > 1 || symbols > 1 ? null : { digits: rest, isNegative };
}

/** The number a decimal is, or null where a JSON number would not give back the same digits. */
export function exactNumber(decimal: string): number | null {
  const value = Number(decimal);
  if (!Number.isFinite(value)) return null;
  if (value === 0) return 0;
  return plainDigits(expandExponent(String(value))) === plainDigits(decimal) ? value : null;
}

/** `1.5e-7` as `0.00000015`: a number as JSON writes it, as a plain decimal. Null beyond MAX_DIGITS digits, or for no number. */
export function readJsonNumber(source: string): string | null {
  return /^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/.test(source) && source.length <= MAX_LENGTH
    ? expandExponent(source)
    : null;
}

function expandExponent(source: string): string {
  const [mantissa = '', exponent = '0'] = source.toLowerCase().split('e');
  const shift = Number(exponent);
  if (shift === 0) return mantissa;
  const isNegative = mantissa.startsWith('-');
  const [whole = '', decimals = ''] = mantissa.replace('-', '').split('.');
  const at = whole.length + shift;
  const digits = `${'0'.repeat(Math.max(0, 1 - at))}${whole}${decimals}`.padEnd(at, '0');
  const point = Math.max(1, at);
  const end = digits.slice(point);
  return `${isNegative ? '-' : ''}${digits.slice(0, point)}${end === '' ? '' : `.${end}`}`;
}

/** Without what says nothing: zeros around it, and the sign of zero. */
function plainDigits(decimal: string): string {
  const [whole = '', decimals = ''] = decimal.replace('-', '').split('.');
  const plain = `${whole.replace(/^0+/, '')}.${decimals.replace(/0+$/, '')}`;
  return decimal.startsWith('-') && plain !== '.' ? `-${plain}` : plain;
}
