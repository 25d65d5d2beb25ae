/**
 * Text of a provider fit to be stored anywhere: Postgres refuses NUL, and UTF-8 cannot carry half a surrogate pair. Both
 * become U+FFFD; what is longer than `maxLength` UTF-16 units is cut. Null for anything but a non-empty string or a number.
 */
export function readSafeText(value: unknown, maxLength: number): string | null {
  const text = typeof value === 'number' ? String(value) : value;
  if (typeof text !== 'string' || text === '') return null;
  return text.slice(0, maxLength).toWellFormed().replaceAll('\u0000', '\uFFFD');
}
