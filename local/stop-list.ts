/** Things to stop, last added first, each once. */
export interface StopList {
  add(name: string, stop: () => Promise<void> | void): void;
  /** Stops everything in reverse order; one that fails is reported and does not keep the others running. */
  stopAll(): Promise<void>;
}

/** `log` receives one line for each stop that failed. Calling `stopAll` twice waits for the same stopping. */
export function createStopList(log: (line: string) => void): StopList {
  const entries: { name: string; stop: () => Promise<void> | void }[] = [];
  let stopping: Promise<void> | undefined;

  async function stopInOrder(): Promise<void> {
    for (let entry = entries.pop(); entry !== undefined; entry = entries.pop()) {
      try {
        await entry.stop();
      } catch (error) {
        log(`could not stop ${entry.name}: ${error instanceof Error ? error.message : String(error)}`);
      }
    }
  }

  return {
    add: (name, stop) => {
      entries.push({ name, stop });
    },
    stopAll: () => {
      stopping ??= stopInOrder();
      return stopping;
    },
  };
}
