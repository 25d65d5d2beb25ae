const CREATED_AT = 1_760_000_000;
const MODELS = [
  'gpt-6.2-astra',
  'gpt-6.2-sol',
  'gpt-6.1-sol',
  'gpt-6.1-terra',
  'gpt-6-luna',
  'gpt-5.6-sol',
  'gpt-5.6-terra',
  'gpt-5.6-luna',
  'gpt-5.4-mini',
  'gpt-4.1-mini',
  'gpt-4o',
  'gpt-4o-mini',
  'text-embedding-3-small',
  'text-embedding-3-large',
  'omni-moderation-latest',
];

/** `GET /v1/models`. Any other model id is taken as well, unless it begins with `unknown-`. */
export function modelList() {
  const data = MODELS.map((id) => ({ id, object: 'model', created: CREATED_AT, owned_by: 'system' }));
  return { object: 'list', data };
}
