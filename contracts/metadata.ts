import { z } from 'zod';

const MAX_METADATA_PAIRS = 16;
const MAX_METADATA_KEY_LENGTH = 64;
const MAX_METADATA_VALUE_LENGTH = 512;

const NUL = '\u0000';

function storable(maxLength: number) {
  return z.string().max(maxLength).refine(isStorable, 'must be well-formed text without NUL');
}

/** Whether a jsonb column can hold the text unchanged. */
export function isStorable(text: string): boolean {
  return text.isWellFormed() && !text.includes(NUL);
}

/** The caller's own labels of a job: text to text. */
export const Metadata = z
  .record(storable(MAX_METADATA_KEY_LENGTH).min(1), storable(MAX_METADATA_VALUE_LENGTH))
  .refine((pairs) => Object.keys(pairs).length <= MAX_METADATA_PAIRS, `at most ${MAX_METADATA_PAIRS} pairs`)
  .meta({
    description:
      `At most ${MAX_METADATA_PAIRS} pairs; keys up to ${MAX_METADATA_KEY_LENGTH} characters, values up to ` +
      `${MAX_METADATA_VALUE_LENGTH}. Nothing that names a person belongs here.`,
    example: { team: 'search', purpose: 'evaluation' },
  });
