/**
 * The text of a file in UTF-8, or in UTF-16 with a byte order mark, without that mark; null where it is neither, or holds a
 * NUL and so is no text.
 */
export function decodeText(bytes: Uint8Array): string | null {
  const text = decode(bytes, encodingOf(bytes));
  return text === null || text.includes('\0') ? null : text;
}

function encodingOf([first, second]: Uint8Array): 'utf-8' | 'utf-16le' | 'utf-16be' {
  if (first === 0xff && second === 0xfe) return 'utf-16le';
  return first === 0xfe && second === 0xff ? 'utf-16be' : 'utf-8';
}

function decode(bytes: Uint8Array, encoding: string): string | null {
  try {
    return new TextDecoder(encoding, { fatal: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return null;
    throw error;
  }
}
