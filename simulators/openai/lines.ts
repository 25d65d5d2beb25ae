import type { Body, Endpoint } from './prompt.ts';
import type { BatchError } from './records.ts';

export interface InputLine {
  customId: string;
  body: Body;
  model: string;
}

export type LineProblem = Omit<BatchError, 'line'>;

// An escape counts only after an even number of backslashes; otherwise it is text about escapes.
const LONE_SURROGATE = /(?<!\\)(?:\\\\)*\\ud[89a-f]/;

/** One line of an input file, or what is wrong with it by itself (OpenAI Batch API docs; codes as reported by users). */
export function readInputLine(text: string, endpoint: Endpoint): InputLine | LineProblem {
  const line = parseObject(text);
  if (line === undefined) return problem('invalid_json_line', 'This line is not parseable as valid JSON.');
  const { custom_id: customId, method, url, body } = line;
  if (customId === undefined || customId === null || customId === '') return missing('custom_id');
  if (typeof customId !== 'string') return problem('invalid_type', "'custom_id' must be a string.", 'custom_id');
  if (method === undefined) return missing('method');
  if (method !== 'POST') return problem('invalid_method', "The method of every request must be 'POST'.", 'method');
  if (url === undefined) return missing('url');
  if (url !== endpoint) {
    return problem('url_mismatch', 'The URL provided for this request does not match the batch endpoint.', 'url');
  }
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return missing('body');
  return readBody(customId, body as Body, endpoint);
}

export function isProblem(line: InputLine | LineProblem): line is LineProblem {
  return 'code' in line;
}

export function problem(code: string, message: string, param: string | null = null): LineProblem {
  return { code, message, param };
}

function readBody(customId: string, body: Body, endpoint: Endpoint): InputLine | LineProblem {
  const model = body['model'] ?? (endpoint === '/v1/moderations' ? 'omni-moderation-latest' : undefined);
  if (typeof model !== 'string') return missing('body.model');
  if (model.startsWith('unknown-')) {
    return problem('model_not_found', `The provided model '${model}' is not supported by the Batch API.`, 'body.model');
  }
  if (body['stream'] === true) {
    return problem(
      'invalid_value',
      "Streaming is not supported in the Batch API: 'stream' must be false.",
      'body.stream',
    );
  }
  return { customId, body, model };
}

function missing(param: string): LineProblem {
  return problem('missing_required_parameter', `Missing required parameter: '${param}'.`, param);
}

function parseObject(text: string): Body | undefined {
  try {
    const value: unknown = JSON.parse(text);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
    // JavaScript reads half a surrogate pair; the API's own parser does not. Serialised, only such halves are escaped.
    if (text.includes('\\u') && LONE_SURROGATE.test(JSON.stringify(value))) return undefined;
    return value as Body;
  } catch {
    return undefined;
  }
}
