import type { Asked as WholeText } from '../asked.ts';
import type { Directives } from '../directives.ts';
import type { Fate } from '../fates.ts';
import { ERROR_DIRECTIVES, errorOfDirective, type RpcStatus, rpcStatus } from './errors.ts';
import { isSupported, type ModelTask, unsupported } from './models.ts';
import { promptOf, readAskedBy } from './prompt.ts';
import { isObject, type JsonObject, readMessage, ShapeError } from './proto-json.ts';
import { REQUESTS } from './request-messages.ts';
import { brokenRule } from './request-rules.ts';

/** What a batch, or the path of a single call, says of all its requests. */
export interface Asked {
  task: ModelTask;
  model: string;
}

/** A request as the API reads it: with camelCase names, or with what is wrong with it. */
export interface ReadRequest {
  request: JsonObject;
  prompt: string;
  problem: RpcStatus | undefined;
}

/** One request to a model, from a batch or sent by itself. */
export interface Item extends Asked, ReadRequest {
  /** What rows are taken from; see readAsked. */
  material: string;
  /** Those that hold for this attempt. */
  directives: Directives;
}

/** Reads a request; what is wrong with it belongs to its item alone. */
export function readRequest(value: unknown, { task, model }: Asked): ReadRequest {
  try {
    const request = shapedRequest(value, task);
    return {
      request,
      prompt: promptOf(task, request),
      problem: modelProblem(request, model) ?? brokenRule(task, request),
    };
  } catch (error) {
    if (!(error instanceof ShapeError)) throw error;
    return { request: {}, prompt: '', problem: rpcStatus('INVALID_ARGUMENT', error.message) };
  }
}

/** As readRequest, with the text of its documents in the prompt. */
export async function readWholeRequest(value: unknown, asked: Asked): Promise<ReadRequest & WholeText> {
  const read = readRequest(value, asked);
  return { ...read, ...(await readAskedBy(asked.task, read.request)) };
}

/** The request with camelCase names; throws a ShapeError that counts from `path`. */
export function shapedRequest(value: unknown, task: ModelTask, path = ''): JsonObject {
  if (!isObject(value)) throw new ShapeError('The request is not set, or it is not a JSON object.');
  return readMessage(value, REQUESTS[task], path);
}

export function fateOf(item: Item): Fate {
  if (item.problem !== undefined) return 'fails';
  if (item.directives.expire) return 'hangs';
  if (item.directives.missing) return 'vanishes';
  return itemError(item) === undefined ? 'succeeds' : 'fails';
}

/** The error an item is answered with, or undefined when it gets a reply. */
export function itemError({ problem, directives }: Item): RpcStatus | undefined {
  if (problem !== undefined) return problem;
  if (directives.unknown !== undefined) {
    const known = `errors are ${ERROR_DIRECTIVES.join(', ')}`;
    const marks = directives.unknown.join(', ');
    return rpcStatus('INVALID_ARGUMENT', `The simulator does not know the directive ${marks}; ${known}.`);
  }
  if (directives.error !== undefined) {
    const unknown = `The simulator does not know the error ${directives.error}.`;
    return errorOfDirective(directives.error) ?? rpcStatus('INVALID_ARGUMENT', unknown);
  }
  return directives.invalid ? rpcStatus('INVALID_ARGUMENT', 'Request contains an invalid argument.') : undefined;
}

/** The model stands in the path alone; a request may repeat it, but not name another (the docs do not say). */
function modelProblem({ model: own }: JsonObject, model: string): RpcStatus | undefined {
  if (own === undefined) return undefined;
  const id = String(own).replace(/^models\//, '');
  if (id === model) return undefined;
  if (!isSupported(id, 'generate') && !isSupported(id, 'embed')) {
    return rpcStatus('NOT_FOUND', unsupported(id, 'batchGenerateContent'));
  }
  return rpcStatus('INVALID_ARGUMENT', `The model of the request, ${id}, is not the model of the batch, ${model}.`);
}
