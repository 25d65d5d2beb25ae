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

/** The best of what there is by the `Accept` header, the first where it says nothing; null where none will do. */
export function chooseType<Type extends string>(c: ApiContext, types: readonly [Type, ...Type[]]): Type | null {
  if (c.req.header('accept') === undefined) return types[0];
  const chosen = accepts(c, {
    header: 'Accept',
    supports: [...types],
    default: '',
    match: (accepted, { supports }) => {
      const wanted = accepted.filter(({ q }) => q > 0).toSorted((one, other) => other.q - one.q);
      for (const { type } of wanted) {
        const found = supports.find((each) => matches(each, type.toLowerCase()));
        if (found !== undefined) return found;
      }
      return '';
    },
  });
  return types.find((type) => type === chosen) ?? null;
}

function matches(type: string, range: string): boolean {
  return range === '*/*' || range === type || (range.endsWith('/*') && type.startsWith(range.slice(0, -1)));
}

/** The media type of a Content-Type header, without its parameters. */
export function mediaType(contentType: string | undefined): string {
  return contentType?.split(';')[0]?.trim().toLowerCase() ?? '';
}
