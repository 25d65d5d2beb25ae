/** No batch outlives its window by more, so a longer wait is a mistake on the other side, not advice. */
const MAX_RETRY_AFTER_MS = 24 * 3_600_000;

/**
 * The wait a reply asks for, in ms; null where it asks for none. `retry-after-ms` (sent by OpenAI, Anthropic) wins over
 * `retry-after` (RFC 9110: whole seconds, or a date). A date is measured from the reply's own `date`, so a wrong clock on
 * this machine does not matter; `now` stands in where the reply has none. At most 24 h.
 */
export function parseRetryAfterMs(headers: Headers, now: Date): number | null {
  const waitMs = readWaitMs(headers, now);
  return waitMs === null ? null : Math.min(waitMs, MAX_RETRY_AFTER_MS);
}

function readWaitMs(headers: Headers, now: Date): number | null {
  const inMs = parseCount(headers.get('retry-after-ms'));
  if (inMs !== null) return Math.ceil(inMs);
  const value = headers.get('retry-after');
  const inSeconds = parseCount(value);
  if (inSeconds !== null) return Math.ceil(inSeconds * 1000);
  const until = parseTime(value);
  if (until === null) return null;
  return Math.max(0, until - (parseTime(headers.get('date')) ?? now.getTime()));
}

function parseCount(value: string | null): number | null {
  return value !== null && /^\s*[0-9]{1,12}(\.[0-9]+)?\s*$/.test(value) ? Number(value) : null;
}

function parseTime(value: string | null): number | null {
  const time = value === null ? Number.NaN : Date.parse(value);
  return Number.isNaN(time) ? null : time;
}
