import type { Fault } from '../../simulators/faults.ts';
import { DOWNLOAD_ROUTES, type SimulatedProvider } from '../harness/simulated-provider.ts';
import type { Dice } from './dice.ts';

type Action = Fault['action'];

/** The longest wait of a create that its client may still be waiting for; see the create deadline of the stack. */
const SHORT_DELAY_MS = 900;
const LONG_DELAY_MS = 6_000;
/** Shorter than the gateway is told that lists lag. */
const LIST_LAG_MS = 400;

const REFUSALS: readonly Action[] = [
  { status: 500 },
  { status: 503 },
  { status: 429, headers: { 'retry-after': '1' } },
  { status: 429 },
  { drop_before: true },
  { error_object_200: true },
  { headers: { 'content-type': 'text/html' }, status: 502, body: '<html>bad gateway</html>' },
];

/** The call did what it was for, or may have, and its caller is not told. */
const UNANSWERED: readonly Action[] = [{ drop_after: true }, { status_after: 500 }, { delay_ms: LONG_DELAY_MS }];

const LIFECYCLES: readonly Action[] = [
  { stuck: { state: 'in_progress', finished: 1 } },
  { stuck: { state: 'in_progress', finished: 0 } },
  { stuck: { state: 'validating' } },
  { stuck: { state: 'finalizing' } },
  { end_state: { status: 'failed', errors: [{ code: 'invalid_request', message: 'no' }] } },
  { end_state: { status: 'expired', finished: 1 } },
  { end_state: { status: 'expired', finished: 0 } },
  { end_state: { status: 'cancelled', finished: 1 } },
  { end_state: { status: 'completed', finished: 1 } },
  { list_lag_ms: LIST_LAG_MS },
];

const LINES: readonly Action[] = [
  { omit_lines: { first: 1 } },
  { duplicate_lines: { every: 1 } },
  { garble_lines: { first: 1 } },
  { invalid_utf8_lines: { first: 1 } },
  { zero_status_lines: { first: 1 } },
  { empty_body_lines: { first: 1 } },
  { no_key_lines: { first: 1 } },
  { append_raw_lines: ['{"custom_id":"stranger-1"}', 'not json', ''] },
  { half_last_line: true },
  { crlf: true },
];

const TRANSFERS: readonly Action[] = [
  { cut: { after_bytes: 40 } },
  { truncate: { after_bytes: 120 } },
  { stall: { after_bytes: 40, ms: LONG_DELAY_MS } },
  { chunk_bytes: 16, chunk_delay_ms: 5 },
];

const SHOWN: readonly Action[] = [
  { native_status: 'pondering' },
  { counts: 'zero' },
  { counts: 'absent' },
  { counts: 'strings' },
];

/** Anthropic sends none. */
const WEBHOOKS: readonly Action[] = [{ lost: true }, { doubled: true }, { bad_signature: true }];

const UPLOAD_ROUTES = {
  openai: ['files.create'],
  anthropic: [],
  gemini: ['files.upload.start', 'files.upload.chunk'],
} as const satisfies { readonly [provider in SimulatedProvider]: readonly string[] };

/** A place where faults strike, and what may strike there. */
interface Dish {
  readonly route: string;
  readonly actions: readonly Action[];
}

/** What one of a provider's calls may meet. Everything passes: nothing here takes a job's right end from it. */
export function faultMenu(provider: SimulatedProvider): readonly Dish[] {
  return [
    ...UPLOAD_ROUTES[provider].map((route) => ({ route, actions: [...REFUSALS, ...UNANSWERED] })),
    { route: 'batches.create', actions: [...REFUSALS, { delay_before_ms: SHORT_DELAY_MS }, { status: 401 }] },
    { route: 'batches.create', actions: UNANSWERED },
    { route: 'batches.create', actions: LIFECYCLES },
    { route: 'batches.retrieve', actions: [...REFUSALS, ...UNANSWERED, { not_found: true }] },
    { route: 'batches.retrieve', actions: SHOWN },
    { route: 'batches.list', actions: [...REFUSALS, { delay_ms: LONG_DELAY_MS }] },
    { route: 'batches.cancel', actions: [...REFUSALS, ...UNANSWERED, { status: 409 }] },
    { route: DOWNLOAD_ROUTES[provider], actions: [...REFUSALS, ...TRANSFERS, { not_found: true }] },
    { route: DOWNLOAD_ROUTES[provider], actions: LINES },
    { route: 'batch:results', actions: [...LINES, { no_output_file: true }] },
    ...(provider === 'anthropic' ? [] : [{ route: 'webhook:deliver', actions: WEBHOOKS }]),
    { route: '*', actions: REFUSALS },
  ];
}

export function pickFault(dice: Dice, provider: SimulatedProvider): Fault {
  const { route, actions } = dice.pick(faultMenu(provider));
  const [times, skip] = [dice.between(1, 2), dice.between(0, 2)];
  return { provider, route, times, skip, action: dice.pick(actions) };
}
