import { withoutDirectives } from './directives.ts';
import { hash32 } from './random.ts';

const OPENINGS = ['In short:', 'Here is what stands out:', 'A brief answer:', 'On balance:', 'Put plainly:'];
const CLAIMS = [
  'the main point holds, with one small caveat.',
  'there are three parts to it, and the second matters most.',
  'it follows directly from what was given.',
  'the evidence is mixed but leans towards yes.',
  'a careful reading confirms it.',
  'the answer depends on the context described.',
  'it is simpler than it first appears.',
];
const TOPIC_WORDS = 8;

/** A short plausible sentence, always the same for the same prompt. */
export function replyText(prompt: string): string {
  const seed = hash32(prompt);
  const topic = withoutDirectives(prompt)
    .slice(0, 200)
    .toWellFormed()
    .split(/\s+/)
    .slice(0, TOPIC_WORDS)
    .join(' ')
    .trim();
  const opening = OPENINGS[seed % OPENINGS.length];
  const claim = CLAIMS[Math.floor(seed / OPENINGS.length) % CLAIMS.length];
  return topic === '' ? `${opening} ${claim}` : `${opening} regarding "${topic}", ${claim}`;
}

/** A plausible token count: about four characters to a token, at least one. */
export function estimateTokens(text: string): number {
  return Math.max(1, Math.ceil(text.length / 4));
}
