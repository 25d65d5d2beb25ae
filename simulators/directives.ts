/** What `[[sim:...]]` marks in a prompt ask of the simulator; README.md lists them all. */
export interface Directives {
  /** A provider error by its directive name, e.g. `server_error`. */
  error?: string;
  invalid?: true;
  invalidLine?: true;
  safety?: true;
  expire?: true;
  missing?: true;
  duplicate?: true;
  /** The reply calls the first tool it is offered. */
  tool?: true;
  /** Counts to report; `none` leaves usage out, `alien` gives it a shape nobody knows. */
  usage?: { input: number; cached: number; output: number } | 'none' | 'alien';
  text?: string;
  /** Length of the reply in characters. */
  chars?: number;
  /** Input tokens written to the cache. */
  cacheWrite?: number;
  /** Output tokens spent on reasoning. */
  reasoning?: number;
  /** What is wrong with the rows of a reply that is asked for some. */
  rows?: RowsDamage;
  /** The marks hold for the first attempt of this prompt only. */
  once?: true;
  /** Marks that were not understood, verbatim: a misspelt one must not pass for a plain prompt. */
  unknown?: string[];
}

/** `missing` leaves the column out of every row. */
export type RowsDamage = { kind: 'broken' } | { kind: 'wrong_type' } | { kind: 'missing'; column: string };

const MARK = /\[\[sim:([\s\S]*?)\]\]/g;
const FLAGS: Readonly<Record<string, keyof Directives>> = {
  invalid: 'invalid',
  invalid_line: 'invalidLine',
  safety: 'safety',
  expire: 'expire',
  missing: 'missing',
  duplicate: 'duplicate',
  tool: 'tool',
  once: 'once',
};
const NUMBERS: Readonly<Record<string, keyof Directives>> = {
  chars: 'chars',
  cache_write: 'cacheWrite',
  reasoning: 'reasoning',
};
const COUNTS = /^\d+(,\d+){1,2}$/;

/** The marks found in a prompt, or undefined when there is none. */
export function parseDirectives(prompt: string): Directives | undefined {
  if (!prompt.includes('[[sim:')) return undefined;
  const marks = [...prompt.matchAll(MARK)].map(([, mark = '']) => readMark(mark));
  const unknown = marks.flatMap((mark) => mark.unknown ?? []);
  const directives: Directives = Object.assign({}, ...marks);
  return unknown.length > 0 ? { ...directives, unknown } : directives;
}

/** The prompt as a model would read it. */
export function withoutDirectives(prompt: string): string {
  return prompt.includes('[[sim:') ? prompt.replace(MARK, '').trim() : prompt;
}

function readMark(mark: string): Directives {
  const equals = mark.indexOf('=');
  const name = equals === -1 ? mark : mark.slice(0, equals);
  const value = equals === -1 ? undefined : mark.slice(equals + 1);
  const flag = FLAGS[name];
  if (flag !== undefined && value === undefined) return { [flag]: true };
  const number = NUMBERS[name];
  if (number !== undefined && value !== undefined && /^\d+$/.test(value)) return { [number]: Number(value) };
  if (name === 'error' && value) return { error: value };
  if (name === 'text' && value !== undefined) return { text: value };
  if (name === 'rows' && value !== undefined) return readRowsDamage(value) ?? { unknown: [mark] };
  if (name === 'usage' && value !== undefined) return readUsage(value) ?? { unknown: [mark] };
  return { unknown: [mark] };
}

function readUsage(value: string): Directives | undefined {
  if (value === 'none' || value === 'alien') return { usage: value };
  if (!COUNTS.test(value)) return undefined;
  const [input = 0, middle = 0, last] = value.split(',').map(Number);
  return { usage: last === undefined ? { input, cached: 0, output: middle } : { input, cached: middle, output: last } };
}

function readRowsDamage(value: string): Directives | undefined {
  if (value === 'broken' || value === 'wrong_type') return { rows: { kind: value } };
  const column = /^missing:(.+)$/s.exec(value)?.[1];
  return column === undefined ? undefined : { rows: { kind: 'missing', column } };
}
