const RELEASED_AT = '2026-01-01T00:00:00Z';
const MODELS = [
  'claude-fable-5-2',
  'claude-fable-5-1',
  'claude-opus-5-5',
  'claude-opus-5',
  'claude-sonnet-5-5',
  'claude-sonnet-5',
  'claude-haiku-5-5',
  'claude-haiku-4-5',
];

/** What `GET /v1/models` lists. Any other model id is taken as well, unless it begins with `unknown-`. */
export function modelList() {
  return MODELS.map((id) => ({
    id,
    type: 'model',
    display_name: nameOf(id),
    created_at: RELEASED_AT,
    lifecycle: 'active',
    line: id.split('-')[1],
    max_input_tokens: 1_000_000,
    max_tokens: 128_000,
    capabilities: null,
    deprecated_at: null,
    retires_at: null,
  }));
}

/** `claude-opus-5-5` is Claude Opus 5.5. */
function nameOf(id: string): string {
  const [brand, line, ...version] = id.split('-');
  return [brand, line, version.join('.')].map((word = '') => word.charAt(0).toUpperCase() + word.slice(1)).join(' ');
}
