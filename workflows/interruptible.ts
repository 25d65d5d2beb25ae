import { CancellationScope } from '@temporalio/workflow';

/** Work that a signal may end early. */
export class Interruptible {
  #scope: CancellationScope | null = null;

  interrupt(): void {
    this.#scope?.cancel();
  }

  /** Null when it was interrupted; what it had got done is in the rows. */
  async run<Result>(work: () => Promise<Result>): Promise<Result | null> {
    const scope = new CancellationScope();
    this.#scope = scope;
    try {
      return await scope.run(work);
    } catch (error) {
      if (scope.consideredCancelled) return null;
      throw error;
    } finally {
      this.#scope = null;
    }
  }
}
