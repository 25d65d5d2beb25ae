import type { OpenItem, SettledItem } from '../../db/result-rows.ts';
import type { ChainedItem } from '../../db/retry-chain.ts';
import type { ContentState } from '../../domain/content-state.ts';
import { formatAmount } from '../../domain/money.ts';
import { hideProviderIds } from '../../domain/provider-ids.ts';
import { retryName } from '../../domain/retry-name.ts';
import type { Usage } from '../../domain/usage.ts';
import { presentHash } from './hash.ts';
import { presentTime } from './time.ts';

/** A settled item, with its reply where that is to be had. */
export interface ShownItem extends SettledItem {
  /** Null for one that has no reply. */
  readonly content: ContentState | null;
}

export interface ResultView {
  readonly currency: string;
  /** Whether the tenant's policy shows it the provider's own words. */
  readonly exposesProviderErrors: boolean;
  /** Whether amounts are those of the job's customer. */
  readonly inCustomerPrices: boolean;
}

/**
 * A settled item as one line of JSON. The reply is passed through as text: reading and writing it again would reorder
 * its keys and change numbers that a double cannot hold.
 */
export function resultRowJson(item: ShownItem, view: ResultView): string {
  const { amount, refunded } = view.inCustomerPrices ? item.customer : item;
  return (
    `{"item_id":${JSON.stringify(item.itemId)},"custom_id":${JSON.stringify(item.customId)},"status":"${item.status}",` +
    `"result":${resultJson(item, view)},"content":${JSON.stringify(item.content)},"error":${errorJson(item, view)},"usage":${JSON.stringify(presentUsage(item.usage))},` +
    `"cost":"${formatAmount(amount)}","refunded":"${formatAmount(refunded)}","currency":${JSON.stringify(view.currency)},"model":${modelJson(item)},` +
    `"request_hash":"${presentHash(item.requestHash)}","response_hash":${responseHashJson(item)},` +
    `"needs_review":${needsReview(item)},"retry_of_item_id":${JSON.stringify(item.retryOfItemId)},"retried_by_item_id":${JSON.stringify(item.retriedByItemId)},` +
    `"attempts":${item.attempts},"settled_at":"${item.settledAt.toISOString()}"}`
  );
}

/** A block for safety is for a person to look at, until one has the item sent again. */
function needsReview({ failure, retriedByItemId }: SettledItem): boolean {
  return failure?.class === 'safety_blocked' && retriedByItemId === null;
}

/** An item in any state as JSON: a result row with `created_at` and `retry_chain`, null where nothing is known yet. */
export function itemDetailJson(item: ShownItem | OpenItem, chain: readonly ChainedItem[], view: ResultView): string {
  const rest = `,"created_at":"${item.createdAt.toISOString()}","retry_chain":${JSON.stringify(chain.map((each) => presentLink(each, view)))}}`;
  if ('settledAt' in item) return resultRowJson(item, view).slice(0, -1) + rest;
  const open = {
    item_id: item.itemId,
    custom_id: item.customId,
    status: item.status,
    result: null,
    content: null,
    error: null,
    usage: null,
    cost: null,
    refunded: null,
    currency: view.currency,
    model: null,
    request_hash: presentHash(item.requestHash),
    response_hash: null,
    needs_review: false,
    retry_of_item_id: item.retryOfItemId,
    retried_by_item_id: item.retriedByItemId,
    attempts: item.attempts,
    settled_at: null,
  };
  return JSON.stringify(open).slice(0, -1) + rest;
}

function presentLink(link: ChainedItem, view: ResultView) {
  const cost = view.inCustomerPrices ? link.customerAmount : link.amount;
  return {
    job_id: link.jobId,
    item_id: link.itemId,
    name: retryName(link.customId, link.attempt),
    attempt: link.attempt,
    status: link.status,
    error: link.failure,
    model: link.model === '' ? null : link.model,
    cost: cost === null ? null : formatAmount(cost),
    settled_at: presentTime(link.settledAt),
  };
}

/** What came in a result's place is the provider's own account of a failure. */
function resultJson({ body, failure }: SettledItem, { exposesProviderErrors }: ResultView): string {
  return onOneLine(failure === null || exposesProviderErrors ? body : null);
}

/** JSON keeps line breaks only between tokens, where a space says the same. */
function onOneLine(json: string | null): string {
  return json === null ? 'null' : json.replaceAll(/[\r\n]+/g, ' ');
}

function errorJson({ failure, nativeError }: SettledItem, { exposesProviderErrors }: ResultView): string {
  if (failure === null) return 'null';
  const error = JSON.stringify(failure);
  if (!exposesProviderErrors || nativeError === null) return error;
  const words = hideProviderIds(nativeError);
  return `${error.slice(0, -1)},"provider":${isJson(words) ? onOneLine(words) : JSON.stringify(words)}}`;
}

function isJson(text: string): boolean {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Items that never ran were answered by no model. */
function modelJson({ model }: SettledItem): string {
  return model === '' ? 'null' : JSON.stringify(model);
}

function responseHashJson({ responseHash }: SettledItem): string {
  return responseHash === null ? 'null' : `"${presentHash(responseHash)}"`;
}

function presentUsage(usage: Usage) {
  return {
    input_tokens: usage.inputTokens,
    cached_input_tokens: usage.cachedInputTokens,
    cache_write_tokens: usage.cacheWriteTokens,
    output_tokens: usage.outputTokens,
    reasoning_tokens: usage.reasoningTokens,
    estimated: usage.estimated,
  };
}
