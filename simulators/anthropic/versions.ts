/** The values of the `anthropic-version` header the API takes (Anthropic versioning docs; @anthropic-ai/sdk). */
export const API_VERSIONS = ['2023-06-01', '2026-10-21'] as const;
export type ApiVersion = (typeof API_VERSIONS)[number];

export function versionOf(headers: Headers): ApiVersion | undefined {
  const given = headers.get('anthropic-version');
  return API_VERSIONS.find((version) => version === given);
}
