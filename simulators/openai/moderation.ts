import { createRandom, hash32 } from '../random.ts';

/** Category → the kinds of input it is judged on (openai SDK types). */
const CATEGORIES: Readonly<Record<string, readonly string[]>> = {
  harassment: ['text'],
  'harassment/threatening': ['text'],
  hate: ['text'],
  'hate/threatening': ['text'],
  illicit: ['text'],
  'illicit/violent': ['text'],
  'self-harm': ['text'],
  'self-harm/instructions': ['text'],
  'self-harm/intent': ['text'],
  sexual: ['text'],
  'sexual/minors': ['text'],
  violence: ['text'],
  'violence/graphic': ['text'],
};

/** One moderation result; a flagged text is always flagged for violence. Scores are the same for the same text. */
export function moderationResult(isFlagged: boolean, text: string) {
  const random = createRandom(hash32(text));
  const names = Object.keys(CATEGORIES);
  const isHit = (name: string) => isFlagged && name === 'violence';
  const score = (name: string) => (isHit(name) ? 0.9 : 0.01) + Math.round(random() * 1e6) / 1e8;
  return {
    flagged: isFlagged,
    categories: Object.fromEntries(names.map((name) => [name, isHit(name)])),
    category_scores: Object.fromEntries(names.map((name) => [name, score(name)])),
    category_applied_input_types: CATEGORIES,
  };
}
