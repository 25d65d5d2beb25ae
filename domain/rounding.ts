/**
 * The one rounding rule of exported money: to the nearest, a tie to the even neighbour.
 * `denominator` must be positive.
 */
export function divideHalfEven(numerator: bigint, denominator: bigint): bigint {
  requirePositive(denominator);
  const quotient = numerator / denominator;
  const remainder = numerator % denominator;
  const doubled = 2n * (remainder < 0n ? -remainder : remainder);
  const tieIsOdd = doubled === denominator && quotient % 2n !== 0n;
  if (doubled < denominator || (doubled === denominator && !tieIsOdd)) return quotient;
  return numerator < 0n ? quotient - 1n : quotient + 1n;
}

/** Towards positive infinity: an estimate or a margin is never cut short. `denominator` must be positive. */
export function divideRoundingUp(numerator: bigint, denominator: bigint): bigint {
  requirePositive(denominator);
  const quotient = numerator / denominator;
  return numerator > 0n && numerator % denominator !== 0n ? quotient + 1n : quotient;
}

function requirePositive(denominator: bigint): void {
  if (denominator <= 0n) throw new RangeError('the denominator must be positive');
}
