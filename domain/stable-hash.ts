/**
 * A 32-bit number that looks drawn at random and is always the same for a text: FNV-1a over UTF-16 units, with the final
 * mix of MurmurHash3, without which texts that differ at their end alone would have numbers near each other.
 */
export function hashText(text: string): number {
  let hash = 0x811c9dc5;
  for (let index = 0; index < text.length; index += 1) {
    hash = Math.imul(hash ^ text.charCodeAt(index), 0x01000193);
  }
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}
