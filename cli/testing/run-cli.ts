import { EventEmitter } from 'node:events';
import type { Command, Context } from '../command.ts';
import { runCommandLine } from '../command-line.ts';
import { COMMANDS } from '../commands.ts';
import { createTerminal } from '../terminal.ts';

export interface CliRun {
  readonly code: number;
  readonly out: string;
  readonly err: string;
}

export interface CliOptions {
  readonly environment?: { readonly [name: string]: string | undefined };
  readonly standardInput?: string | AsyncIterable<Uint8Array>;
  readonly signals?: FakeSignals;
  /** All of them unless said. */
  readonly commands?: readonly Command[];
  /** Runs at each pause, in which no time passes. */
  readonly onPause?: () => void;
}

/** Stands in for `process` where signals are heard. */
export class FakeSignals extends EventEmitter {
  readonly exits: number[] = [];
  exit(code: number): void {
    this.exits.push(code);
  }
}

/** Runs the command line in this process, without a terminal. */
export async function runCli(args: readonly string[], options: CliOptions = {}): Promise<CliRun> {
  const written = { out: '', err: '' };
  const stream = (name: 'out' | 'err') => ({
    write: (text: string) => {
      written[name] += text;
    },
  });
  const { environment = {}, standardInput = '' } = options;
  const context: Context = {
    terminal: createTerminal(stream('out'), stream('err'), environment),
    standardInput: typeof standardInput === 'string' ? chunks(standardInput) : standardInput,
    environment,
    program: 'batchgate',
    fetch,
    signals: options.signals ?? new FakeSignals(),
    sleep: async () => options.onPause?.(),
    nowMs: () => Date.parse('2026-08-19T10:10:00.000Z'),
  };
  const code = await runCommandLine(args, options.commands ?? COMMANDS, context);
  return { code, ...written };
}

async function* chunks(text: string): AsyncGenerator<Uint8Array> {
  if (text !== '') yield Buffer.from(text);
}
