/** `request_counts` of a batch. All but `processing` stay 0 until the whole batch has ended (@anthropic-ai/sdk types). */
export interface RequestCounts {
  readonly processing: number;
  readonly succeeded: number;
  readonly errored: number;
  readonly canceled: number;
  readonly expired: number;
}

export const COUNT_NAMES = [
  'processing',
  'succeeded',
  'errored',
  'canceled',
  'expired',
] as const satisfies readonly (keyof RequestCounts)[];

/** Null where a count is absent or no count, and where all are 0: no batch is without requests. */
export function readCounts(counts: Readonly<Record<string, unknown>> | null | undefined): RequestCounts | null {
  const [processing, succeeded, errored, canceled, expired] = COUNT_NAMES.map((name) => readCount(counts?.[name]));
  if (
    processing === undefined ||
    succeeded === undefined ||
    errored === undefined ||
    canceled === undefined ||
    expired === undefined
  ) {
    return null;
  }
  const read = { processing, succeeded, errored, canceled, expired };
  return sumCounts(read) > 0 ? read : null;
}

/** The number of requests in the batch. */
export function sumCounts({ processing, succeeded, errored, canceled, expired }: RequestCounts): number {
  return processing + succeeded + errored + canceled + expired;
}

function readCount(value: unknown): number | undefined {
  const count = typeof value === 'string' && /^[0-9]{1,15}$/.test(value) ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) && count >= 0 ? count : undefined;
}
