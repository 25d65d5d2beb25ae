import { hash32 } from '../random.ts';
import type { ItemReply } from './replies.ts';

/** One line of an output or error file for a request that ran (OpenAI Batch API docs). */
export function ranLine(batchId: string, customId: string, { status, body }: Pick<ItemReply, 'status' | 'body'>) {
  const requestId = opaque(`${customId}/${batchId}`);
  const response = { status_code: status, request_id: requestId, body };
  return JSON.stringify({ id: lineId(batchId, customId), custom_id: customId, response, error: null });
}

const NEVER_RAN = {
  expired: {
    code: 'batch_expired',
    message: 'This request could not be executed before the completion window expired.',
  },
  cancelled: { code: 'batch_cancelled', message: 'This request was not executed because the batch was cancelled.' },
  failed: { code: 'batch_failed', message: 'This request was not executed because the batch failed.' },
  completed: { code: 'request_not_run', message: 'This request was not executed.' },
} as const;

/** One line of an error file for a request that never ran. */
export function neverRanLine(batchId: string, customId: string, ending: keyof typeof NEVER_RAN) {
  const error = NEVER_RAN[ending];
  return JSON.stringify({ id: lineId(batchId, customId), custom_id: customId, response: null, error });
}

/** The ways users have seen a line say nothing about its request, and one without its id. */
export const lineRewriters = {
  emptyBody: (line: string) => withResponse(line, (response) => ({ ...response, status_code: 200, body: {} })),
  zeroStatus: (line: string) => withResponse(line, () => ({ status_code: 0, request_id: '', body: {} })),
  withoutKey: (line: string) => JSON.stringify({ ...JSON.parse(line), custom_id: undefined }),
};

function withResponse(line: string, change: (response: object) => object): string {
  const parsed: { response: object | null } = JSON.parse(line);
  return JSON.stringify({ ...parsed, response: change(parsed.response ?? {}), error: null });
}

function lineId(batchId: string, customId: string): string {
  return `batch_req_${opaque(`${batchId}/${customId}`)}`;
}

function opaque(seed: string): string {
  return [seed, `${seed}.`].map((text) => hash32(text).toString(16).padStart(8, '0')).join('');
}
