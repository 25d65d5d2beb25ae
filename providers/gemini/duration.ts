/** No batch outlives its window by more, so a longer wait is a mistake on the other side, not advice. */
const MAX_DELAY_MS = 24 * 3_600_000;

/** A protobuf Duration in JSON (`"34s"`, `"0.250s"`), in whole ms, at most 24 h. Null for anything else. */
export function parseDurationMs(value: unknown): number | null {
  const seconds = typeof value === 'string' ? /^([0-9]{1,12}(?:\.[0-9]{1,9})?)s$/.exec(value)?.[1] : undefined;
  return seconds === undefined ? null : Math.min(Math.ceil(Number(seconds) * 1000), MAX_DELAY_MS);
}
