import type { JsonObject } from './proto-json.ts';
import { asObject } from './request-rules.ts';

/** The JSON schema a reply shall fit, `any` for JSON of any shape, or undefined. */
export function schemaOf(request: JsonObject): unknown {
  const config = asObject(request['generationConfig']);
  if (config['responseMimeType'] !== 'application/json') return undefined;
  if (config['responseJsonSchema'] !== undefined) return config['responseJsonSchema'];
  return config['responseSchema'] === undefined ? 'any' : jsonSchemaOf(config['responseSchema']);
}

/** The JSON schema of an OpenAPI one: type names in lower case and counts as numbers. */
export function jsonSchemaOf(schema: unknown): unknown {
  const { type, properties, items, anyOf, minItems, ...rest } = asObject(schema);
  return {
    ...rest,
    ...(type !== undefined && { type: String(type).toLowerCase() }),
    ...(minItems !== undefined && { minItems: Number(minItems) }),
    ...(properties !== undefined && {
      properties: Object.fromEntries(
        Object.entries(asObject(properties)).map(([name, inner]) => [name, jsonSchemaOf(inner)]),
      ),
    }),
    ...(items !== undefined && { items: jsonSchemaOf(items) }),
    ...(Array.isArray(anyOf) && { anyOf: anyOf.map(jsonSchemaOf) }),
  };
}
