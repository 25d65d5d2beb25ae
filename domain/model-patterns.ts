/** Model ids; one that ends in `*` stands for all that begin so. */
export function matchesModel(patterns: readonly string[], model: string): boolean {
  return patterns.some((pattern) => covers(pattern, model));
}

/** Patterns for the models that one of `patterns` and `other` stand for alike. */
export function intersectModels(patterns: readonly string[], other: string): readonly string[] {
  const common = patterns.flatMap((pattern) => {
    if (covers(other, pattern)) return [pattern];
    return covers(pattern, other) ? [other] : [];
  });
  return [...new Set(common)];
}

/** Whether `pattern` stands for all that `other` stands for, which may be a pattern itself. */
function covers(pattern: string, other: string): boolean {
  return pattern.endsWith('*') ? other.startsWith(pattern.slice(0, -1)) : pattern === other;
}
