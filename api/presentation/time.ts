export function presentTime(time: Date | null): string | null {
  return time === null ? null : time.toISOString();
}
