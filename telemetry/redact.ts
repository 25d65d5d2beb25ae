const REDACTED = '[redacted]';
const MAX_DEPTH = 6;
const MAX_ELEMENTS = 50;
const MAX_TEXT_LENGTH = 2_000;

/** Names whose values are secrets or a client's content. Case, `-` and `_` do not count. */
const SENSITIVE_NAMES: ReadonlySet<string> = new Set([
  'authorization',
  'proxyauthorization',
  'cookie',
  'setcookie',
  'xapikey',
  'xgoogapikey',
  'apikey',
  'key',
  'secret',
  'password',
  'token',
  'accesstoken',
  'refreshtoken',
  'prompt',
  'body',
  'requestbody',
  'responsebody',
  'requestdefaults',
  'messages',
  'content',
  'contents',
  'input',
  'instructions',
  'system',
  'raw',
  'text',
  'reply',
  'rows',
  'lineitems',
  'filename',
  'batchname',
  'columns',
]);

const SECRETS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/\b(Bearer|Basic) [\w.~+/=-]{8,}/gi, `$1 ${REDACTED}`],
  [/\bbg_([a-z]+)_[0-9A-Za-z]{20,}/g, `bg_$1_${REDACTED}`],
  [/\bsk-[\w-]{16,}/g, `sk-${REDACTED}`],
  [/\bwhsec_[\w+/=-]{8,}/g, `whsec_${REDACTED}`],
  [/\bAIza[\w-]{30,}/g, `AIza${REDACTED}`],
  [/(:\/\/[^\s:/@"]+:)[^\s@"/]+@/g, `$1${REDACTED}@`],
];

/** The text without what looks like a key, a token or a password in a URL. */
export function scrub(text: string): string {
  return SECRETS.reduce((rest, [pattern, replacement]) => rest.replace(pattern, replacement), text);
}

/** What may be logged of fields: no secrets, no content, errors by `describeError`, bounded in depth and length. */
export function redact(fields: object): Record<string, unknown> {
  return redactObject(fields, 0);
}

/** An error's kind, code, message and stack, and its causes. None of its other fields: libraries hang whole requests there. */
export function describeError(error: Error, depth = 0): Record<string, unknown> {
  const code = 'code' in error ? error.code : undefined;
  return {
    type: error.name,
    ...(typeof code === 'string' || typeof code === 'number' ? { code } : {}),
    message: shorten(error.message),
    stack: shorten(error.stack ?? ''),
    ...(error.cause instanceof Error && depth < MAX_DEPTH ? { cause: describeError(error.cause, depth + 1) } : {}),
  };
}

function redactObject(fields: object, depth: number): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => [name, isSensitive(name) ? REDACTED : redactValue(value, depth + 1)]),
  );
}

function redactValue(value: unknown, depth: number): unknown {
  if (typeof value === 'string') return shorten(value);
  if (typeof value === 'bigint') return value.toString();
  if (typeof value !== 'object' || value === null) return value;
  if (value instanceof Error) return describeError(value);
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? String(value) : value.toISOString();
  if (ArrayBuffer.isView(value)) return `[${value.byteLength} bytes]`;
  if (depth >= MAX_DEPTH) return '[deeper]';
  if (!Array.isArray(value)) return redactObject(value, depth);
  const shown = value.slice(0, MAX_ELEMENTS).map((element) => redactValue(element, depth + 1));
  return value.length > MAX_ELEMENTS ? [...shown, `[${value.length - MAX_ELEMENTS} more]`] : shown;
}

function isSensitive(name: string): boolean {
  return SENSITIVE_NAMES.has(name.replaceAll(/[-_]/g, '').toLowerCase());
}

function shorten(text: string): string {
  return text.length > MAX_TEXT_LENGTH ? `${text.slice(0, MAX_TEXT_LENGTH)}…` : text;
}
