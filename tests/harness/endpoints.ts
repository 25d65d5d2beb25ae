import type { Caller } from './gateway.ts';

/**
 * An OpenAI endpoint as callers and the provider name it. Faults can tell jobs apart by it, so that several scenarios
 * run side by side instead of one after another.
 */
export interface OpenAiEndpoint {
  readonly endpoint: string;
  readonly model: string;
  readonly native: string;
  readonly request: (text: string) => Record<string, unknown>;
}

export const CHAT: OpenAiEndpoint = {
  endpoint: 'chat.completions',
  model: 'openai/gpt-4o-mini',
  native: '/v1/chat/completions',
  request: (content) => ({ messages: [{ role: 'user', content }], max_tokens: 200 }),
};

export const RESPONSES: OpenAiEndpoint = {
  endpoint: 'responses',
  model: 'openai/gpt-4o-mini',
  native: '/v1/responses',
  request: (input) => ({ input, max_output_tokens: 200 }),
};

export const EMBEDDINGS: OpenAiEndpoint = {
  endpoint: 'embeddings',
  model: 'openai/text-embedding-3-small',
  native: '/v1/embeddings',
  request: (input) => ({ input }),
};

export const MODERATIONS: OpenAiEndpoint = {
  endpoint: 'moderations',
  model: 'openai/omni-moderation-latest',
  native: '/v1/moderations',
  request: (input) => ({ input }),
};

/** A submitted job of as many requests as there are texts; ids row_1, row_2, … */
export async function submitTo(
  caller: Caller,
  { endpoint, model, request }: OpenAiEndpoint,
  texts: readonly string[],
): Promise<string> {
  const jobId = await caller.createJob({ endpoint, model });
  const items = texts.map((text, index) => ({ custom_id: `row_${index + 1}`, request: request(text) }));
  await caller.append(jobId, items);
  await caller.submit(jobId);
  return jobId;
}
