import { createRandom, hash32 } from './random.ts';

/** An embedding of length one, always the same for the same text. */
export function unitVector(text: string, dimensions: number): Float32Array {
  const random = createRandom(hash32(text));
  const vector = Float32Array.from({ length: dimensions }, () => random() - 0.5);
  const length = Math.hypot(...vector);
  return vector.map((each) => each / length);
}
