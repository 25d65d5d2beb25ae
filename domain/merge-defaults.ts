import type { JsonObject } from './json-object.ts';

/**
 * A job's `request_defaults` under one item's request. A member the item has wins whole, null included: objects are not
 * merged into each other. The one exception is `messages`: the defaults' come first, then the item's, so that a system
 * prompt is sent once for all items.
 */
export function mergeRequestDefaults(defaults: JsonObject, request: JsonObject): JsonObject {
  const merged = { ...defaults, ...request };
  const shared = defaults['messages'];
  const own = request['messages'];
  return Array.isArray(shared) && Array.isArray(own) ? { ...merged, messages: [...shared, ...own] } : merged;
}
