/** Runs asynchronous work, at most `limit` pieces at a time, in the order given. */
export function createWorkQueue(limit: number): <T>(work: () => Promise<T>) => Promise<T> {
  const waiting: (() => void)[] = [];
  let running = 0;
  return async (work) => {
    if (running >= limit) await new Promise<void>((resolve) => waiting.push(resolve));
    else running += 1;
    try {
      return await work();
    } finally {
      // A finished piece hands its place on rather than giving it back, so no newcomer can overtake.
      const next = waiting.shift();
      if (next === undefined) running -= 1;
      else next();
    }
  };
}
