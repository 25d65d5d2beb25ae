import { hashText } from './stable-hash.ts';

/** So many numbers of `first` to `first + count - 1`, one of each equal stretch, always the same for a seed. Ascending. */
export function spreadNumbers(first: number, count: number, wanted: number, seed: string): number[] {
  if (count <= wanted) return Array.from({ length: count }, (_, index) => first + index);
  return Array.from({ length: wanted }, (_, index) => {
    const start = Math.floor((index * count) / wanted);
    const end = Math.floor(((index + 1) * count) / wanted);
    return first + start + (hashText(`${seed}:${index}`) % (end - start));
  });
}

/** An item that may be sampled. */
export interface SampleCandidate {
  readonly itemNo: number;
  /** What is alike about it and others; each kind gets its share. */
  readonly kind: string;
  readonly bytes: number;
}

/**
 * Chooses items in turns between their kinds, so that a rare kind is heard beside a common one. One that no longer fits
 * into what is left of the bytes is passed over.
 */
export function chooseSample<Candidate extends SampleCandidate>(
  candidates: readonly Candidate[],
  limits: { readonly maxItems: number; readonly maxBytes: number },
): Candidate[] {
  const queues = [...Map.groupBy(candidates, ({ kind }) => kind).values()].map((ofKind) =>
    ofKind.toSorted((one, other) => rankOf(one) - rankOf(other)).values(),
  );
  const chosen: Candidate[] = [];
  let bytes = 0;
  for (let open = queues; open.length > 0; ) {
    const still: typeof queues = [];
    for (const queue of open) {
      const { value, done } = queue.next();
      if (done === true) continue;
      still.push(queue);
      if (chosen.length >= limits.maxItems) return chosen;
      if (bytes + value.bytes > limits.maxBytes) continue;
      bytes += value.bytes;
      chosen.push(value);
    }
    open = still;
  }
  return chosen;
}

function rankOf({ itemNo }: SampleCandidate): number {
  return hashText(String(itemNo));
}
