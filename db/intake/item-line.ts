import { hash } from 'node:crypto';
import { validateCustomId } from '../../domain/custom-id.ts';
import type { ErrorCode } from '../../domain/gateway-error.ts';
import { parseJsonLine } from '../../domain/json-line.ts';
import { isJsonObject, type JsonObject } from '../../domain/json-object.ts';
import { mergeRequestDefaults } from '../../domain/merge-defaults.ts';
import type { Endpoint } from '../../domain/provider.ts';
import { inspectRequest } from '../../domain/request-inspection.ts';
import type { ItemRow } from '../item-rows.ts';

export interface ItemRules {
  readonly endpoint: Endpoint;
  /** The job's `request_defaults`, under which a request is measured. */
  readonly requestDefaults: JsonObject | null;
  readonly allowsEmailLikeIds: boolean;
  /** Of one request as compact JSON. */
  readonly maxRequestBytes: number;
}

/** Why an item is refused. `customId` is there when it could be read, valid or not. */
export interface ItemFault {
  readonly customId?: string;
  readonly field?: string;
  readonly error: ErrorCode;
  readonly message: string;
}

export type ReadItem =
  | { readonly ok: true; readonly item: ItemRow }
  | { readonly ok: false; readonly faults: readonly ItemFault[] };

const ALLOWED = ['custom_id', 'request', 'idempotency_key'];
const MAX_MODEL_CHARS = 200;
const MAX_SHOWN_ID_CHARS = 512;
/** One item may bring a million of them; the first tell enough. */
const MAX_UNKNOWN_MEMBERS = 20;
const CONTROL = /\p{Cc}/u;
const LAST_COUNT = 2 ** 31 - 1;

/**
 * Reads one item from its JSON text and checks all that makes it storable; what a provider or a batch would refuse in
 * the request itself is measured, kept as features, and found by the dry run and at submit.
 *
 * Content is compared by `requestHash`: SHA-256 of the request as compact JSON with members in the order given. White
 * space, escapes and the spelling of numbers do not count. Order does, because models follow it (the members of a schema
 * are generated in their order), so another order is another request.
 */
export function readItem(text: string, position: number, rules: ItemRules): ReadItem {
  const line = parseJsonLine(text);
  if (!line.ok) return refuseText(text, line);
  const { custom_id: givenId, request, idempotency_key: givenKey } = line.value;
  const faults: ItemFault[] = [];
  const named = typeof givenId === 'string' ? { customId: givenId.slice(0, MAX_SHOWN_ID_CHARS) } : {};
  const refuse = (field: string, error: ErrorCode, message: string) => {
    faults.push({ ...named, field, error, message });
  };

  checkMembers(line.value, refuse);
  const id = validateCustomId(givenId, { allowEmailLike: rules.allowsEmailLikeIds });
  if (!id.ok) refuse('custom_id', id.error, id.message);
  const key = readKey(givenKey, rules);
  if (!key.ok) refuse('idempotency_key', 'invalid_item', key.message);
  if (!isJsonObject(request)) {
    if (!looksLikeOpenAi(line.value)) refuse('request', 'invalid_item', describeMissingRequest(request));
    return { ok: false, faults };
  }
  const model = request['model'] ?? null;
  if (model !== null && !isModelName(model)) {
    refuse('request.model', 'invalid_item', `request.model must be a name of 1 to ${MAX_MODEL_CHARS} characters`);
  }
  const body = JSON.stringify(request);
  const bodyBytes = Buffer.byteLength(body);
  if (bodyBytes > rules.maxRequestBytes) {
    const message = `request is ${bodyBytes} bytes long; the limit is ${rules.maxRequestBytes}. Make it smaller`;
    refuse('request', 'request_too_large', message);
  }
  if (faults.length > 0 || !id.ok || !key.ok) return { ok: false, faults };
  return { ok: true, item: measure(id.customId, key.key, request, { position, body, bodyBytes }, rules) };
}

function measure(
  customId: string,
  key: string | null,
  request: JsonObject,
  given: Pick<ItemRow, 'position' | 'body' | 'bodyBytes'>,
  { endpoint, requestDefaults }: ItemRules,
): ItemRow {
  const whole = requestDefaults === null ? request : mergeRequestDefaults(requestDefaults, request);
  const { features, inputTokens, maxOutputTokens, choices, embeddingInputs, model } = inspectRequest(endpoint, whole);
  return {
    position: given.position,
    body: given.body,
    bodyBytes: given.bodyBytes,
    customId,
    idempotencyKey: key === customId ? null : key,
    requestHash: hash('sha256', given.body),
    requestedModel: model,
    features,
    inputTokens: Math.min(inputTokens, LAST_COUNT),
    maxOutputTokens: maxOutputTokens === null ? null : Math.min(maxOutputTokens * choices, LAST_COUNT),
    choices,
    embeddingInputs: Math.min(embeddingInputs, LAST_COUNT),
  };
}

function checkMembers(item: JsonObject, refuse: (field: string, error: ErrorCode, message: string) => void): void {
  if (looksLikeOpenAi(item)) {
    refuse(
      'body',
      'invalid_item',
      'this is a line of an OpenAI batch file; here an item is {"custom_id", "request"}: send its body as request, without method and url',
    );
    return;
  }
  let unknown = 0;
  for (const name in item) {
    if (ALLOWED.includes(name)) continue;
    unknown += 1;
    if (unknown > MAX_UNKNOWN_MEMBERS) break;
    const shown = name.slice(0, MAX_SHOWN_ID_CHARS);
    refuse(shown, 'invalid_item', `"${shown}" is not a member of an item; allowed are ${ALLOWED.join(', ')}`);
  }
}

function looksLikeOpenAi(item: JsonObject): boolean {
  return 'body' in item && !('request' in item) && ('url' in item || 'method' in item);
}

type ReadKey = { readonly ok: true; readonly key: string | null } | { readonly ok: false; readonly message: string };

/** A key follows the rules of a custom id, for which it may stand in. */
function readKey(value: unknown, { allowsEmailLikeIds }: ItemRules): ReadKey {
  if (value === undefined || value === null) return { ok: true, key: null };
  const verdict = validateCustomId(value, { allowEmailLike: allowsEmailLikeIds });
  if (verdict.ok) return { ok: true, key: verdict.customId };
  return { ok: false, message: verdict.message.replace('custom_id', 'idempotency_key') };
}

function isModelName(model: unknown): boolean {
  return typeof model === 'string' && model.trim() !== '' && model.length <= MAX_MODEL_CHARS && !CONTROL.test(model);
}

function describeMissingRequest(request: unknown): string {
  if (request === undefined) return 'request is required';
  const given = request === null ? 'null' : Array.isArray(request) ? 'a list' : `a ${typeof request}`;
  return `request must be a JSON object, not ${given}`;
}

/** The first string that follows a `custom_id`, for a text that is not JSON. */
const CUSTOM_ID = /"custom_id"\s*:\s*("(?:[^"\\]|\\.){0,1024}")/;

function refuseText(text: string, { error, message }: { error: ErrorCode; message: string }): ReadItem {
  return { ok: false, faults: [{ ...nameIn(text), error, message: `the item ${message}` }] };
}

/** The id of an item whose text, or its beginning, cannot be read as JSON. */
export function nameIn(text: string): Pick<ItemFault, 'customId'> {
  const customId = findCustomId(text);
  return customId === null ? {} : { customId: customId.slice(0, MAX_SHOWN_ID_CHARS).toWellFormed() };
}

function findCustomId(text: string): string | null {
  try {
    const id: unknown = JSON.parse(CUSTOM_ID.exec(text)?.[1] ?? 'null');
    return typeof id === 'string' ? id : null;
  } catch {
    return null;
  }
}
