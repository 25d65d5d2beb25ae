import type { KeptAnswer } from './once.ts';

/**
 * An answer that shows a key in its `key`, or a secret in another member, which is null in what is kept for repetitions: what
 * is shown is not stored with it. `effect` is given where to tell it.
 */
export async function showOnce(
  effect: (show: (key: string) => void) => Promise<KeptAnswer>,
  member: 'key' | 'secret' = 'key',
): Promise<KeptAnswer> {
  let shown: string | null = null;
  const answer = await effect((key) => {
    shown = key;
  });
  if (answer.replayed) return answer;
  return { ...answer, body: JSON.stringify({ ...(JSON.parse(answer.body) as object), [member]: shown }) };
}
