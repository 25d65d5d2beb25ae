import type { Found } from './body-scanner.ts';
import { invalidRequest } from './errors.ts';
import type { Params } from './prompt.ts';

const CUSTOM_ID = /^[a-zA-Z0-9_-]{1,64}$/;
const LONGEST_ID = 64;

/** One request of a create; its `params` are looked at only when it runs (Anthropic Message Batches docs). */
export interface BatchRequest {
  custom_id: string;
  params: Params;
}

/** Checks what the scanner finds in the body of a create; throws the refusal of the first thing wrong. */
export interface RequestReader {
  /** The request, when it is one. */
  read(found: Found, value: unknown): BatchRequest | undefined;
  /** Call it after the last. */
  end(): void;
}

export function createRequestReader(maxItems: number): RequestReader {
  const ids = new Set<string>();
  let hasList = false;
  return {
    read(found, value) {
      if (found.kind === 'member') throw invalidRequest(memberProblem(found.name));
      if (found.kind === 'list') {
        if (hasList) throw invalidRequest('requests: given twice');
        hasList = true;
        return undefined;
      }
      const place = `requests.${ids.size}`;
      if (ids.size === maxItems) throw invalidRequest(`requests: List should have at most ${maxItems} items`);
      const request = readRequest(value, place);
      if (ids.has(request.custom_id)) {
        throw invalidRequest(`${place}.custom_id: must be unique, but '${request.custom_id}' was given before`);
      }
      ids.add(request.custom_id);
      return request;
    },
    end() {
      if (!hasList) throw invalidRequest('requests: Field required');
      if (ids.size === 0) throw invalidRequest('requests: List should have at least 1 item');
    },
  };
}

function memberProblem(name: string): string {
  return name === 'requests' ? 'requests: Input should be a valid list' : `${name}: Extra inputs are not permitted`;
}

function readRequest(value: unknown, place: string): BatchRequest {
  if (!isObject(value)) throw invalidRequest(`${place}: Input should be an object`);
  const { custom_id: id, params, ...rest } = value;
  if (id === undefined) throw invalidRequest(`${place}.custom_id: Field required`);
  if (typeof id !== 'string') throw invalidRequest(`${place}.custom_id: Input should be a valid string`);
  if (id.length > LONGEST_ID) {
    throw invalidRequest(`${place}.custom_id: String should have at most ${LONGEST_ID} characters`);
  }
  if (!CUSTOM_ID.test(id))
    throw invalidRequest(`${place}.custom_id: String should match pattern '${CUSTOM_ID.source}'`);
  if (params === undefined) throw invalidRequest(`${place}.params: Field required`);
  if (!isObject(params)) throw invalidRequest(`${place}.params: Input should be an object`);
  const [extra] = Object.keys(rest);
  if (extra !== undefined) throw invalidRequest(`${place}.${extra}: Extra inputs are not permitted`);
  return { custom_id: id, params };
}

function isObject(value: unknown): value is Params {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
