/** Line ends to readers that go by Unicode; plain characters in JSON, and escaped the same text. */
const LINE_SEPARATORS = /[\u0085\u2028\u2029]/g;

/** A value as JSON on one line, whatever the reader takes for a line end. */
export function writeInputLine(value: object): string {
  return JSON.stringify(value).replace(LINE_SEPARATORS, escapeCharacter);
}

function escapeCharacter(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
