import type { FirstAttempts } from '../attempts.ts';
import type { Validated as ValidatedInput } from '../batch-progress.ts';
import { parseDirectives } from '../directives.ts';
import { FATES } from '../fates.ts';
import { readLines } from '../line-reader.ts';
import { fateOf } from './item.ts';
import { isProblem, type LineProblem, problem, readInputLine } from './lines.ts';
import { type Endpoint, inputsOf, promptTokens, readRequest } from './prompt.ts';
import type { BatchError } from './records.ts';

const MOST_EMBEDDING_INPUTS = 50_000;

export interface Validated extends ValidatedInput {
  errors: BatchError[];
  model: string | null;
  total: number;
  tokens: number;
}

/**
 * Reads a whole input file as the API does before a batch starts: every line by itself, then unique ids, one model and
 * the limits (OpenAI Batch API docs). One bad line fails the batch.
 */
export async function validateInput(
  path: string,
  batch: { id: string; endpoint: Endpoint },
  limits: { maxLines: number; maxListedErrors: number },
  attempts: FirstAttempts,
): Promise<Validated> {
  const errors: BatchError[] = [];
  const fates: number[] = [];
  const ids = new Set<string>();
  let model: string | null = null;
  let tokens = 0;
  let inputs = 0;
  let ends = 0;
  let lineNumber = 0;

  const refuse = (found: LineProblem, line: number | null) => {
    if (errors.length < limits.maxListedErrors) errors.push({ ...found, line });
  };
  const readLine = async (text: string) => {
    const line = readInputLine(text, batch.endpoint);
    if (isProblem(line)) return refuse(line, lineNumber);
    model ??= line.model;
    if (ids.has(line.customId)) refuse(duplicateId(line.customId), lineNumber);
    if (line.model !== model) refuse(mixedModels(model, line.model), lineNumber);
    ids.add(line.customId);
    const { prompt, material, onceKey } = await readRequest(batch.endpoint, line.body);
    const found = parseDirectives(prompt);
    const directives = attempts.directivesFor(onceKey, found, batch.id);
    if (directives.invalidLine) {
      attempts.claim(onceKey, found, batch.id);
      refuse(problem('invalid_request', 'This request is not valid.', 'body'), lineNumber);
    }
    const fate = fateOf({ endpoint: batch.endpoint, body: line.body, prompt, material, directives });
    fates.push(FATES.indexOf(fate));
    if (fate !== 'hangs') ends += 1;
    tokens += promptTokens(batch.endpoint, line.body, prompt);
    if (batch.endpoint === '/v1/embeddings') inputs += inputsOf(line.body['input']).length;
  };

  for await (const block of readLines(path)) {
    for (const text of block) {
      lineNumber += 1;
      if (text.trim() !== '') await readLine(text);
    }
    if (fates.length > limits.maxLines) break;
  }
  if (fates.length === 0 && errors.length === 0) refuse(problem('empty_file', 'The input file is empty.'), null);
  if (fates.length > limits.maxLines) errors.unshift({ ...tooMany('requests', limits.maxLines), line: null });
  if (inputs > MOST_EMBEDDING_INPUTS) errors.unshift({ ...tooMany('inputs', MOST_EMBEDDING_INPUTS), line: null });
  return { errors, model, total: fates.length, tokens, fates: Uint8Array.from(fates), ends };
}

function duplicateId(id: string): LineProblem {
  return problem('duplicate_custom_id', `The custom_id '${id}' is used by an earlier request.`, 'custom_id');
}

function mixedModels(first: string | null, other: string): LineProblem {
  return problem('mismatched_model', `A batch has one model: expected '${first}', got '${other}'.`, 'body.model');
}

function tooMany(what: 'requests' | 'inputs', limit: number): LineProblem {
  return problem('too_many_tasks', `The batch has too many ${what}: the limit is ${limit}.`);
}
