import { styleText } from 'node:util';
import type { Environment } from '../local/stack-environment.ts';

/** The part of a standard stream that commands use. */
export interface OutputStream {
  write(text: string): unknown;
  readonly isTTY?: boolean | undefined;
  readonly columns?: number | undefined;
}

export type Style = 'bold' | 'dim' | 'red' | 'green' | 'yellow' | 'cyan';
/** Colours a text, or leaves it as it is where colours are not wanted. */
export type Paint = (style: Style, text: string) => string;

export interface Terminal {
  readonly out: OutputStream;
  readonly err: OutputStream;
  readonly paint: Paint;
  readonly paintErr: Paint;
}

export function createTerminal(out: OutputStream, err: OutputStream, environment: Environment): Terminal {
  return { out, err, paint: painter(out, environment), paintErr: painter(err, environment) };
}

/** No colours where NO_COLOR says so (no-color.org), on a terminal that has none, or where nobody looks. */
function painter(stream: OutputStream, environment: Environment): Paint {
  const hasColours = stream.isTTY === true && !environment['NO_COLOR'] && environment['TERM'] !== 'dumb';
  return hasColours ? (style, text) => styleText(style, text, { validateStream: false }) : (_style, text) => text;
}
