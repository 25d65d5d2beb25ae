/**
 * Bounds how many bytes of content this worker works with at once, so that memory does not grow with what is asked of it at the
 * same time. What is larger than the whole budget has it all to itself. In the order of asking.
 */
export class ByteBudget {
  readonly #bytes: number;
  #free: number;
  readonly #waiting: { readonly bytes: number; readonly go: () => void }[] = [];

  constructor(bytes: number) {
    this.#bytes = bytes;
    this.#free = bytes;
  }

  async run<Result>(bytes: number, work: () => Promise<Result>): Promise<Result> {
    const taken = Math.min(bytes, this.#bytes);
    await this.#take(taken);
    try {
      return await work();
    } finally {
      this.#free += taken;
      this.#letIn();
    }
  }

  async #take(bytes: number): Promise<void> {
    if (this.#waiting.length === 0 && bytes <= this.#free) {
      this.#free -= bytes;
      return;
    }
    await new Promise<void>((go) => this.#waiting.push({ bytes, go }));
  }

  #letIn(): void {
    for (let [next] = this.#waiting; next !== undefined && next.bytes <= this.#free; [next] = this.#waiting) {
      this.#waiting.shift();
      this.#free -= next.bytes;
      next.go();
    }
  }
}
