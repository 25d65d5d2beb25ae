/** A Messages body as it came in, not yet checked. */
export type Params = Readonly<Record<string, unknown>>;

/** All text a request puts before the model, the system prompt first, joined by line ends. */
export function promptOf({ system, messages }: Params): string {
  return [...textsOf(system), ...textsOf(messages)].join('\n');
}

/** Strings, and the text of messages and content blocks; results of tools, images and documents are not read. */
function textsOf(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (Array.isArray(value)) return value.flatMap(textsOf);
  if (typeof value !== 'object' || value === null) return [];
  const { type, text, content } = value as Params;
  if (type === 'text') return textsOf(text);
  return type === undefined ? textsOf(content) : [];
}
