import { accepts } from 'hono/accepts';
import type { ApiContext } from './env.ts';

export const NDJSON_TYPES = ['application/x-ndjson', 'application/ndjson', 'application/jsonl'] as const;

/** Whether the caller prefers one JSON object a line over one JSON document. */
export function prefersNdjson(c: ApiContext): boolean {
  const chosen = accepts(c, {
    header: 'Accept',
    supports: ['application/json', ...NDJSON_TYPES],
    default: 'application/json',
  });
  return chosen !== 'application/json';
}

/** The media type of a Content-Type header, without its parameters. */
export function mediaType(contentType: string | undefined): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
}
