/** A JSON object as it was parsed: nothing is known of its members. */
export type JsonObject = { readonly [name: string]: unknown };

export function isJsonObject(value: unknown): value is JsonObject {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** A member that is an object itself, else null. */
export function findObject(object: JsonObject, name: string): JsonObject | null {
  const value = object[name];
  return isJsonObject(value) ? value : null;
}
