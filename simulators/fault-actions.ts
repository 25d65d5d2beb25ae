import { z } from 'zod';

const Milliseconds = z.number().nonnegative();
const Count = z.number().int().nonnegative();
const ResultFile = z.enum(['output', 'error']);

/** Which result lines: the first n, every nth, those at these places (from 0), or those holding one of these texts. */
const LineSelection = z.strictObject({
  first: Count.optional(),
  every: z.number().int().positive().optional(),
  index: z.array(Count).optional(),
  containing: z.array(z.string().min(1)).optional(),
  /** Only lines bound for this file count and are chosen. */
  file: ResultFile.optional(),
});
const Lines = z.union([Count, LineSelection]);
const MovableLines = z.union([Count, LineSelection.extend({ to: ResultFile.optional() })]);
/** Without `to` a line stays in its file. */
export type LineSelection = z.infer<typeof MovableLines>;

const EndState = z.strictObject({
  status: z.enum(['completed', 'failed', 'expired', 'cancelled']),
  /** How many items are finished; all when absent, none for `failed`. */
  finished: Count.optional(),
  /** Whether unfinished items are listed in the error file; as the provider does it when absent. */
  list_unfinished: z.boolean().optional(),
  errors: z
    .array(
      z.strictObject({
        code: z.string(),
        message: z.string().optional(),
        param: z.string().nullable().optional(),
        line: z.number().int().nullable().optional(),
      }),
    )
    .optional(),
});
export type EndState = z.infer<typeof EndState>;

const Stuck = z.strictObject({
  state: z.enum(['validating', 'in_progress', 'finalizing', 'cancelling']),
  /** Items finished while it is stuck in progress; progress goes on to all of them when absent. */
  finished: Count.optional(),
  /** Simulator time after which it goes on; never when absent. */
  for_ms: Milliseconds.optional(),
  /** Stays stuck even when the completion window has passed. */
  past_expiry: z.boolean().optional(),
});

const CountsOverride = z.union([
  z.enum(['zero', 'strings', 'absent']),
  z.record(z.string(), z.union([z.number(), z.string()])),
]);

/** What a fault does. One action may combine keys; which keys a route knows is the provider's to say. */
export const FaultAction = z.strictObject({
  status: z.number().int().min(100).max(599).optional(),
  headers: z.record(z.string(), z.string()).optional(),
  body: z.unknown().optional(),
  not_found: z.literal(true).optional(),
  error_object_200: z.literal(true).optional(),
  status_after: z.number().int().min(100).max(599).optional(),
  drop_before: z.literal(true).optional(),
  drop_after: z.literal(true).optional(),
  delay_before_ms: Milliseconds.optional(),
  delay_ms: Milliseconds.optional(),
  delay_clock: z.enum(['simulator', 'real']).optional(),

  native_status: z.string().optional(),
  counts: CountsOverride.optional(),
  results_url: z.string().optional(),

  end_state: EndState.optional(),
  stuck: Stuck.optional(),
  list_lag_ms: Milliseconds.optional(),

  no_output_file: z.literal(true).optional(),
  no_error_file: z.literal(true).optional(),
  omit_lines: Lines.optional(),
  move_lines: MovableLines.optional(),
  duplicate_lines: MovableLines.optional(),
  garble_lines: Lines.optional(),
  invalid_utf8_lines: Lines.optional(),
  zero_status_lines: MovableLines.optional(),
  empty_body_lines: MovableLines.optional(),
  no_key_lines: Lines.optional(),
  append_raw_lines: z
    .union([z.array(z.string()), z.strictObject({ file: ResultFile, lines: z.array(z.string()) })])
    .optional(),
  half_last_line: z.union([z.literal(true), ResultFile]).optional(),
  crlf: z.literal(true).optional(),

  cut: z.strictObject({ after_bytes: Count }).optional(),
  truncate: z.strictObject({ after_bytes: Count }).optional(),
  stall: z.strictObject({ after_bytes: Count, ms: Milliseconds }).optional(),
  chunk_bytes: z.number().int().positive().optional(),
  chunk_delay_ms: Milliseconds.optional(),

  doubled: z.literal(true).optional(),
  lost: z.literal(true).optional(),
  bad_signature: z.literal(true).optional(),
  timestamp_shift_s: z.number().int().optional(),
});
export type FaultAction = z.infer<typeof FaultAction>;
export type FaultKey = keyof FaultAction;

/** Every HTTP route of every provider knows these. */
export const HTTP_FAULTS = [
  'status',
  'headers',
  'body',
  'not_found',
  'error_object_200',
  'status_after',
  'drop_before',
  'drop_after',
  'delay_before_ms',
  'delay_ms',
  'delay_clock',
] as const satisfies readonly FaultKey[];

/** Damage to result lines, when they are written or when they are downloaded. */
export const LINE_FAULTS = [
  'omit_lines',
  'move_lines',
  'duplicate_lines',
  'garble_lines',
  'invalid_utf8_lines',
  'zero_status_lines',
  'empty_body_lines',
  'no_key_lines',
  'append_raw_lines',
  'half_last_line',
  'crlf',
] as const satisfies readonly FaultKey[];

/** Damage to the bytes of a download on their way. */
export const TRANSFER_FAULTS = [
  'cut',
  'truncate',
  'stall',
  'chunk_bytes',
  'chunk_delay_ms',
] as const satisfies readonly FaultKey[];

export const WEBHOOK_FAULTS = [
  'doubled',
  'lost',
  'bad_signature',
  'timestamp_shift_s',
  'delay_ms',
] as const satisfies readonly FaultKey[];

/** What may befall a batch, given when it is created or forced on it later. */
export const BATCH_FAULTS = ['end_state', 'stuck', 'list_lag_ms'] as const satisfies readonly FaultKey[];
