/**
 * Tokens are counted in 64ths. The weights lie at or above what two public tokenizers (o200k, cl100k) make of prose,
 * code, numbers and fifteen languages; legacy tokenizers on Greek, Hebrew and Finnish are the known exceptions, and
 * what the margin on a hold is for.
 */
const PER_TOKEN = 64;
const LOWER_CASE = 18;
const UPPER_CASE = 22;
const DIGIT = 42;
const SPACE = 6;
const SYMBOL = 42;
const LINE_BREAK = 64;
/** Accented Latin splits the word it stands in. */
const LATIN_EXTENDED = 64;
const CYRILLIC = 40;
/** Greek, Armenian, Hebrew, Arabic. */
const NEAR_SCRIPTS = 52;
/** Indic scripts, Thai, Georgian and others written with many marks; accented Latin of two marks. */
const MARKED_SCRIPTS = 66;
/** Chinese, Japanese, Korean, and all that is not named here. */
const WIDE = 80;
/** One half of a surrogate pair: emoji and rare ideographs take two to three tokens a pair. */
const SURROGATE = 100;

/** Letters and digits without a break for this long are no words: base64, hashes, minified names. */
const DENSE_RUN_CHARS = 30;
const DENSE = 56;

/** Marks, in the table of weights, a character that ends a run. */
const BREAK = 128;
const ASCII = Uint8Array.from({ length: 128 }, (_, code) => asciiWeight(String.fromCharCode(code)));

function asciiWeight(char: string): number {
  if (char >= 'a' && char <= 'z') return LOWER_CASE;
  if (char >= 'A' && char <= 'Z') return UPPER_CASE;
  if (char >= '0' && char <= '9') return DIGIT;
  if ('+/=-_'.includes(char)) return SYMBOL;
  if (char === ' ') return SPACE | BREAK;
  return (char === '\n' ? LINE_BREAK : SYMBOL) | BREAK;
}

/**
 * A cautious count of the tokens in a text, by the class of each character; at least 1 for any text. One pass, no
 * regular expression: an append calls it for every string of every item.
 */
export function estimateTextTokens(text: string): number {
  const length = text.length;
  let weight = 0;
  let runStart = 0;
  let weightAtRunStart = 0;
  for (let index = 0; index < length; index += 1) {
    const code = text.charCodeAt(index);
    const known = code < 128 ? (ASCII[code] ?? SYMBOL) : BREAK;
    if (known < BREAK) {
      weight += known;
      continue;
    }
    if (index - runStart > DENSE_RUN_CHARS) weight = atLeast(weight, weightAtRunStart, index - runStart);
    weight += code < 128 ? known - BREAK : weightBeyondAscii(code);
    runStart = index + 1;
    weightAtRunStart = weight;
  }
  if (length - runStart > DENSE_RUN_CHARS) weight = atLeast(weight, weightAtRunStart, length - runStart);
  return Math.max(1, Math.ceil(weight / PER_TOKEN));
}

function atLeast(weight: number, weightAtRunStart: number, runLength: number): number {
  return Math.max(weight, weightAtRunStart + runLength * DENSE);
}

function weightBeyondAscii(code: number): number {
  if (code < 0x370) return LATIN_EXTENDED;
  if (code >= 0x400 && code < 0x530) return CYRILLIC;
  if (code < 0x700) return NEAR_SCRIPTS;
  if (code < 0x2000) return MARKED_SCRIPTS;
  return code >= 0xd800 && code < 0xe000 ? SURROGATE : WIDE;
}
