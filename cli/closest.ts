/** The one of the names that a slip of the fingers most likely meant; null when none is near. */
export function closest(given: string, names: readonly string[]): string | null {
  const ranked = names
    .map((name) => ({ name, edits: editDistance(given, name) }))
    .sort((left, right) => left.edits - right.edits);
  const best = ranked[0];
  return best !== undefined && best.edits <= Math.max(1, Math.ceil(given.length / 3)) ? best.name : null;
}

/** Levenshtein: insertions, deletions and replacements from one text to the other. */
function editDistance(left: string, right: string): number {
  let row = Array.from({ length: right.length + 1 }, (_, index) => index);
  for (const [index, character] of [...left].entries()) {
    const next = [index + 1];
    for (let column = 1; column <= right.length; column += 1) {
      const replaced = (row[column - 1] ?? 0) + (character === right[column - 1] ? 0 : 1);
      next.push(Math.min(replaced, (row[column] ?? 0) + 1, (next[column - 1] ?? 0) + 1));
    }
    row = next;
  }
  return row[right.length] ?? 0;
}
