import type { FirstAttempts } from '../attempts.ts';
import type { Validated as ValidatedInput } from '../batch-progress.ts';
import { parseDirectives } from '../directives.ts';
import { FATES } from '../fates.ts';
import { readLines } from '../line-reader.ts';
import { type RpcStatus, rpcStatus } from './errors.ts';
import { type Asked, fateOf, readWholeRequest, shapedRequest } from './item.ts';
import { type InputItem, readInputLine, type Source } from './lines.ts';
import { promptTokens } from './prompt.ts';
import { ShapeError } from './proto-json.ts';

const MOST_LISTED = 10;

export interface Validated extends ValidatedInput {
  errors: RpcStatus[];
  total: number;
  tokens: number;
}

export interface Input extends Asked {
  path: string;
  source: Source;
}

/**
 * Reads a whole input as the API does before a batch starts. A line that is no JSON object fails the batch; that is this
 * simulator's choice, for the docs do not say, while what is wrong with a single request is the error of its item.
 */
export async function validateInput(input: Input, batchId: string, attempts: FirstAttempts): Promise<Validated> {
  const problems: string[] = [];
  const fates: number[] = [];
  let tokens = 0;
  let ends = 0;
  await eachLine(input, async (item, line) => {
    if (item === undefined) {
      problems.push(`Error on line ${line}: invalid JSON.`);
      return;
    }
    const { onceKey, ...read } = await readWholeRequest(item.request, input);
    const found = parseDirectives(read.prompt);
    const directives = attempts.directivesFor(onceKey, found, batchId);
    if (directives.invalidLine) {
      attempts.claim(onceKey, found, batchId);
      problems.push(`Error on line ${line}: this request is not valid.`);
    }
    const fate = fateOf({ ...input, ...read, directives });
    if (fate !== 'hangs') ends += 1;
    tokens += promptTokens(read.prompt);
    fates.push(FATES.indexOf(fate));
  });
  if (fates.length === 0 && problems.length === 0) problems.push('The input holds no requests.');
  const errors = problems.length === 0 ? [] : [statusOf(problems)];
  return { errors, total: fates.length, tokens, fates: Uint8Array.from(fates), ends };
}

/** The input tokens of a whole input. */
export async function countTokens(input: Input): Promise<number> {
  let tokens = 0;
  await eachLine(input, async (item) => {
    if (item !== undefined) tokens += promptTokens((await readWholeRequest(item.request, input)).prompt);
  });
  return tokens;
}

/** What a create is refused with when it reads the requests at once, or undefined (as users report it of files). */
export async function requestsProblem(input: Input): Promise<string | undefined> {
  const problems: string[] = [];
  await eachLine(input, async (item, line) => {
    const problem = item === undefined ? 'invalid JSON' : shapeProblem(item, line, input);
    if (problem !== undefined) problems.push(input.source === 'file' ? `Error on line ${line}: ${problem}` : problem);
  });
  return problems.length === 0 ? undefined : statusOf(problems).message;
}

function shapeProblem({ request }: InputItem, line: number, { source, task }: Input): string | undefined {
  const path = source === 'inline' ? `batch.input_config.requests.requests[${line - 1}].request` : '';
  try {
    shapedRequest(request, task, path);
    return undefined;
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    const isFile = source === 'file';
    return isFile && error.unknownName !== undefined
      ? `invalid JSON, no such field: '${error.unknownName}'`
      : error.message;
  }
}

async function eachLine(
  input: Input,
  visit: (item: InputItem | undefined, line: number) => Promise<void>,
): Promise<void> {
  let line = 0;
  for await (const block of readLines(input.path)) {
    for (const text of block) {
      line += 1;
      if (text.trim() !== '') await visit(readInputLine(text, input.source), line);
    }
  }
}

function statusOf(problems: readonly string[]): RpcStatus {
  return rpcStatus('INVALID_ARGUMENT', problems.slice(0, MOST_LISTED).join('\n'));
}
