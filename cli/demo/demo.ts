import type { StackReady } from '../../local/stack-options.ts';

/** What a demo runs on, and how it is shown. */
export interface Demo {
  readonly ready: StackReady;
  /** Tells that the stack is to stop. */
  readonly signal: AbortSignal;
  readonly items: number;
  readonly asJson: boolean;
  /** What further commands need to find the stack, with a space before it. */
  readonly dataOption: string;
  /** What becomes of the stack, said at the end. */
  readonly whatIsNext: string;
}
