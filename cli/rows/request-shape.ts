import type { z } from 'zod';
import type { CreateJob } from '../../contracts/create-job.ts';
import { usageError } from '../errors.ts';

export type Endpoint = z.infer<typeof CreateJob>['endpoint'];
type Body = { readonly [member: string]: unknown };

interface RequestShape {
  /** The request that asks one text. */
  readonly ask: (text: string) => Body;
  /** What all requests share for a system prompt, where there is such a thing. */
  readonly system?: (text: string) => Body;
  /** What all requests share for a limit of the reply, in tokens. */
  readonly maxTokens?: (tokens: number) => Body;
}

const SHAPES: { readonly [endpoint in Endpoint]: RequestShape } = {
  'chat.completions': {
    ask: (content) => ({ messages: [{ role: 'user', content }] }),
    system: (content) => ({ messages: [{ role: 'system', content }] }),
    maxTokens: (max_completion_tokens) => ({ max_completion_tokens }),
  },
  responses: {
    ask: (input) => ({ input }),
    system: (instructions) => ({ instructions }),
    maxTokens: (max_output_tokens) => ({ max_output_tokens }),
  },
  messages: {
    ask: (content) => ({ messages: [{ role: 'user', content }] }),
    system: (system) => ({ system }),
    maxTokens: (max_tokens) => ({ max_tokens }),
  },
  generate_content: {
    ask: (text) => ({ contents: [{ role: 'user', parts: [{ text }] }] }),
    system: (text) => ({ systemInstruction: { parts: [{ text }] } }),
    maxTokens: (maxOutputTokens) => ({ generationConfig: { maxOutputTokens } }),
  },
  embeddings: { ask: (input) => ({ input }) },
  moderations: { ask: (input) => ({ input }) },
};

export function askText(endpoint: Endpoint, text: string): Body {
  return SHAPES[endpoint].ask(text);
}

/** `request_defaults` of a job; undefined where all requests share nothing. Throws a usage error for what an endpoint lacks. */
export function sharedRequest(
  endpoint: Endpoint,
  { system, maxTokens }: { readonly system: string | undefined; readonly maxTokens: number | undefined },
): { [member: string]: unknown } | undefined {
  const shape = SHAPES[endpoint];
  const members = {
    ...(system !== undefined && required(shape.system, '--system', endpoint)(system)),
    ...(maxTokens !== undefined && required(shape.maxTokens, '--max-tokens', endpoint)(maxTokens)),
  };
  return Object.keys(members).length === 0 ? undefined : members;
}

function required<Make>(make: Make | undefined, option: string, endpoint: Endpoint): Make {
  if (make === undefined) throw usageError(`${endpoint} takes no ${option}.`, option);
  return make;
}
