/** Where progress goes: standard error, as a rule. */
export interface ProgressStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
}

/** Says what is going on while a person waits. */
export interface Progress {
  /** What is being done now; it stays until the next line. */
  say(line: string): void;
  /** Leaves the last line as it stands and starts no further one. */
  finish(): void;
}

const FRAMES = ['⠋', '⠙', '⠸', '⠴', '⠦', '⠇'];
const FRAME_MS = 120;
const CLEAR_LINE = '\r\x1b[K';

/**
 * On a terminal the current line turns until the next replaces it, with the seconds it has taken once they are worth
 * showing; anywhere else each line is written once, so logs stay readable.
 */
export function createProgress(stream: ProgressStream, nowMs: () => number = () => performance.now()): Progress {
  return stream.isTTY ? turningProgress(stream, nowMs) : plainProgress(stream);
}

function plainProgress(stream: ProgressStream): Progress {
  return {
    say: (line) => {
      stream.write(`${line}\n`);
    },
    finish: () => undefined,
  };
}

function turningProgress(stream: ProgressStream, nowMs: () => number): Progress {
  let current: { line: string; sinceMs: number } | undefined;
  let frame = 0;
  let timer: NodeJS.Timeout | undefined;

  function draw(): void {
    if (current === undefined) return;
    const seconds = Math.floor((nowMs() - current.sinceMs) / 1000);
    stream.write(
      `${CLEAR_LINE}${FRAMES[frame % FRAMES.length]} ${current.line}${seconds >= 2 ? ` (${seconds} s)` : ''}`,
    );
    frame += 1;
  }

  function leaveLine(): void {
    if (current !== undefined) stream.write(`${CLEAR_LINE}${current.line}\n`);
    current = undefined;
  }

  return {
    say: (line) => {
      leaveLine();
      current = { line, sinceMs: nowMs() };
      timer ??= setInterval(draw, FRAME_MS).unref();
      draw();
    },
    finish: () => {
      clearInterval(timer);
      timer = undefined;
      leaveLine();
    },
  };
}
