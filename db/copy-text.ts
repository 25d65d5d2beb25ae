const NEEDS_ESCAPE = /[\\\n\r\t]/;
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A text value in COPY's text format. NUL, which Postgres cannot store, becomes U+FFFD. */
export function copyText(value: string): string {
  const storable = value.includes('\0') ? value.replaceAll('\0', '\uFFFD') : value;
  return NEEDS_ESCAPE.test(storable) ? storable.replace(/[\\\n\r\t]/g, (char) => ESCAPES[char] ?? char) : storable;
}

/** NULL in COPY's text format. */
export const COPY_NULL = '\\N';

export function copyTextOrNull(value: string | null): string {
  return value === null ? COPY_NULL : copyText(value);
}
