/** The ways a provider can be spoken to: one adapter each. */
export const DIALECTS = ['openai', 'anthropic', 'gemini'] as const;
export type Dialect = (typeof DIALECTS)[number];

/** Whom batches are sent to: one of the built-in three, named like their dialects, or one of the providers file. */
export type Provider = string;

export const ENDPOINTS = [
  'chat.completions',
  'responses',
  'messages',
  'generate_content',
  'embeddings',
  'moderations',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Who can run each endpoint at all. `responses`, `messages` and `generate_content` are native to one dialect. */
export const ENDPOINT_DIALECTS: { readonly [endpoint in Endpoint]: readonly Dialect[] } = {
  'chat.completions': ['openai', 'anthropic', 'gemini'],
  responses: ['openai'],
  messages: ['anthropic'],
  generate_content: ['gemini'],
  embeddings: ['openai', 'gemini'],
  moderations: ['openai'],
};

/** The form of a provider's name: it becomes part of `provider/model` and of a task queue's name. */
export const PROVIDER_NAME = /^[a-z][a-z0-9-]{0,31}$/;
