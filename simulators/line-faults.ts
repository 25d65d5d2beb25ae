import type { FaultAction, LineSelection } from './fault-actions.ts';

export type ResultFileName = 'output' | 'error';

/** One result line and the file it goes to; bytes when it is no text. */
export interface ResultLine {
  file: ResultFileName;
  text: string | Buffer;
}

/** How a provider writes an item's line without its outcome or its id. */
export interface LineRewriters {
  emptyBody(line: string): string;
  zeroStatus(line: string): string;
  /** The same line without the id of its item. */
  withoutKey(line: string): string;
}

/** Takes each true line in order and gives what is written in its place. */
export type LineDamage = (line: ResultLine) => ResultLine[];

/** The damage an action does to lines, as one function with its own counts; undefined when it does none. */
export function createLineDamage(action: FaultAction, rewriters: LineRewriters): LineDamage | undefined {
  const stages = [
    stage(action.omit_lines, () => []),
    stage(action.move_lines, (line, to) => [{ ...line, file: to ?? line.file }]),
    stage(action.zero_status_lines, (line, to) => [rewrite(line, rewriters.zeroStatus, to)]),
    stage(action.empty_body_lines, (line, to) => [rewrite(line, rewriters.emptyBody, to)]),
    stage(action.no_key_lines, (line) => [rewrite(line, rewriters.withoutKey)]),
    stage(action.garble_lines, (line) => [rewrite(line, (text) => text.slice(0, Math.ceil(text.length / 2)))]),
    stage(action.invalid_utf8_lines, (line) => [{ ...line, text: spoilUtf8(line.text) }]),
    stage(action.duplicate_lines, (line, to) => [line, { ...line, file: to ?? line.file }]),
  ].filter((each) => each !== undefined);
  if (stages.length === 0) return undefined;
  return (line) => stages.reduce<ResultLine[]>((lines, each) => lines.flatMap(each), [line]);
}

/** Lines an action adds after the true ones. */
export function appendedLines(action: FaultAction): ResultLine[] {
  const added = action.append_raw_lines ?? [];
  const { file, lines } = Array.isArray(added) ? { file: 'output' as const, lines: added } : added;
  return lines.map((text) => ({ file, text }));
}

/** How many bytes to cut off a file so that its last line stops halfway; none when the action leaves it whole. */
export function bytesToCut(action: FaultAction, file: ResultFileName, lastLine: string | Buffer = ''): number {
  const isHalved = action.half_last_line === true || action.half_last_line === file;
  return isHalved ? Math.ceil(Buffer.byteLength(lastLine) / 2) : 0;
}

function stage(
  selection: LineSelection | undefined,
  change: (line: ResultLine, to: ResultFileName | undefined) => ResultLine[],
): LineDamage | undefined {
  if (selection === undefined) return undefined;
  const choice = typeof selection === 'number' ? { first: selection } : selection;
  let place = -1;
  return (line) => {
    if (choice.file !== undefined && choice.file !== line.file) return [line];
    place += 1;
    return isChosen(choice, line, place) ? change(line, choice.to) : [line];
  };
}

function isChosen(choice: Exclude<LineSelection, number>, line: ResultLine, place: number): boolean {
  const { first, every, index, containing } = choice;
  // Without any of the four the choice is every line.
  const isAll = first === undefined && every === undefined && index === undefined && containing === undefined;
  return (
    isAll ||
    (first !== undefined && place < first) ||
    (every !== undefined && (place + 1) % every === 0) ||
    (index?.includes(place) ?? false) ||
    (containing?.some((text) => line.text.includes(text)) ?? false)
  );
}

function rewrite(line: ResultLine, change: (text: string) => string, to?: ResultFileName): ResultLine {
  return { file: to ?? line.file, text: change(line.text.toString()) };
}

// 0xFF occurs nowhere in UTF-8; it replaces the byte in the middle, so the line keeps its length.
function spoilUtf8(text: string | Buffer): Buffer {
  const bytes = Buffer.from(text);
  bytes[Math.floor(bytes.length / 2)] = 0xff;
  return bytes;
}
