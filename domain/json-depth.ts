/** Deeper JSON is no request, and serialisers down the road recurse. */
export const MAX_JSON_DEPTH = 100;

/** A search over the native string: long texts and lists of numbers are passed over at once. */
const STRUCTURE = /["{}[\]]/g;
const QUOTE = '"';
const BACKSLASH = '\\';

/**
 * Whether JSON text nests lists and objects deeper than MAX_JSON_DEPTH. Looks at brackets alone and holds nothing, while
 * parsing takes some fifty bytes for each of them. Says nothing of whether the text is JSON.
 */
export function isTextTooDeep(text: string): boolean {
  let depth = 0;
  STRUCTURE.lastIndex = 0;
  for (let found = STRUCTURE.exec(text); found !== null; found = STRUCTURE.exec(text)) {
    const [mark] = found;
    if (mark === QUOTE) STRUCTURE.lastIndex = endOfString(text, found.index + 1);
    else depth += mark === '{' || mark === '[' ? 1 : -1;
    if (depth > MAX_JSON_DEPTH) return true;
  }
  return false;
}

/** The index behind the quote that ends the string, or the text's end. */
function endOfString(text: string, start: number): number {
  for (let at = text.indexOf(QUOTE, start); at >= 0; at = text.indexOf(QUOTE, at + 1)) {
    let escapes = 0;
    while (at - 1 - escapes >= start && text[at - 1 - escapes] === BACKSLASH) escapes += 1;
    if (escapes % 2 === 0) return at + 1;
  }
  return text.length;
}
