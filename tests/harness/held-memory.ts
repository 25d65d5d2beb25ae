import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc') as () => void;

/**
 * Bytes that are held in this process, on the heap and in buffers outside of it, once all garbage is gone. How much garbage
 * lies about says how busy the machine is, and nothing of the code.
 */
export function heldBytes(): number {
  collect();
  const { heapUsed, external } = process.memoryUsage();
  return heapUsed + external;
}

/** Between two looks, each of which takes some tens of milliseconds itself. */
const LOOK_MS = 200;

/** The most that was held during some work beyond what was before it, as far as looking now and then tells. */
export async function growthWhile(work: () => Promise<unknown>): Promise<number> {
  const before = heldBytes();
  let most = before;
  const look = () => {
    most = Math.max(most, heldBytes());
    watch = setTimeout(look, LOOK_MS);
  };
  let watch = setTimeout(look, LOOK_MS);
  try {
    await work();
  } finally {
    clearTimeout(watch);
  }
  return Math.max(most, heldBytes()) - before;
}
