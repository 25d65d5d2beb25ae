export const PROVIDERS = ['openai', 'anthropic', 'gemini'] as const;
export type Provider = (typeof PROVIDERS)[number];

export const ENDPOINTS = [
  'chat.completions',
  'responses',
  'messages',
  'generate_content',
  'embeddings',
  'moderations',
] as const;
export type Endpoint = (typeof ENDPOINTS)[number];

/** Who can run each endpoint at all. `responses`, `messages` and `generate_content` are native to one provider. */
export const ENDPOINT_PROVIDERS: { readonly [endpoint in Endpoint]: readonly Provider[] } = {
  'chat.completions': ['openai', 'anthropic', 'gemini'],
  responses: ['openai'],
  messages: ['anthropic'],
  generate_content: ['gemini'],
  embeddings: ['openai', 'gemini'],
  moderations: ['openai'],
};

export function isProvider(value: string): value is Provider {
  return (PROVIDERS as readonly string[]).includes(value);
}
