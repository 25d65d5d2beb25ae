const DECIMALS = 6;
const SCALE = 10n ** BigInt(DECIMALS);

/** `part / whole` to six decimals, half away from zero, for people to read; null for a whole of zero or less. */
export function ratioOf(part: bigint, whole: bigint): number | null {
  if (whole <= 0n) return null;
  const size = part < 0n ? -part : part;
  const scaled = (2n * size * SCALE + whole) / (2n * whole);
  return Number(part < 0n ? -scaled : scaled) / Number(SCALE);
}
