const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });
const PLAIN = /^[\x20-\x7e]*$/;
/** Shown over two columns (Unicode East Asian Width: wide and fullwidth, the ranges in common use), and emoji. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\ua4cf\ua960-\ua97f\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe6f\uff00-\uff60\uffe0-\uffe6]|[\u{20000}-\u{3fffd}]|\p{Emoji_Presentation}|\ufe0f/u;

/** Columns of a terminal that a text without control characters takes. */
export function textWidth(text: string): number {
  if (PLAIN.test(text)) return text.length;
  let width = 0;
  for (const { segment } of SEGMENTER.segment(text)) width += segmentWidth(segment);
  return width;
}

/** The text in at most `width` columns, with an ellipsis where something is missing. */
export function cutText(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = '';
  let used = 0;
  for (const { segment } of SEGMENTER.segment(text)) {
    const next = used + segmentWidth(segment);
    if (next > width - 1) break;
    kept += segment;
    used = next;
  }
  return width < 1 ? '' : `${kept}…`;
}

function segmentWidth(segment: string): number {
  if (WIDE.test(segment)) return 2;
  return /^[\p{M}\u200b-\u200d\u2060]+$/u.test(segment) ? 0 : 1;
}
