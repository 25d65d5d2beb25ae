/** Work nobody waits for at once, whose failure is logged rather than thrown. */
export interface Background {
  run(what: string, work: () => Promise<void>): Promise<void>;
  /** Resolves when all of it is done. */
  idle(): Promise<void>;
}

export function createBackground(log: (message: string) => void): Background {
  const underWay = new Set<Promise<void>>();
  return {
    run(what, work) {
      const task = work()
        .catch((error: unknown) => log(`${what} failed: ${String(error)}`))
        .finally(() => underWay.delete(task));
      underWay.add(task);
      return task;
    },
    async idle() {
      while (underWay.size > 0) await Promise.all(underWay);
    },
  };
}
