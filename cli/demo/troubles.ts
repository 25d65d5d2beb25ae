/** One of so many tickets meets with trouble. */
const ONE_IN = 20;

/** The kinds that a job meets in the field: refused by the provider, blocked, rate limited, and lost without a trace. */
const MARKS = ['[[sim:error=server_error]]', '[[sim:safety]]', '[[sim:error=rate_limit]]', '[[sim:missing]]'];

/** What a simulator is to do to the ticket at a place (from 0): each kind in turn, null for most tickets. */
export function troubleMark(index: number): string | null {
  return index % ONE_IN === 0 ? (MARKS[(index / ONE_IN) % MARKS.length] ?? null) : null;
}
