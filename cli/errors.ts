import type { ErrorDetailRow, ErrorEnvelope } from '../contracts/error.ts';
import type { TaskErrorEnvelope } from '../contracts/task-error.ts';
import { type ExitName, exitCode } from './exit-codes.ts';

/** What `--json` prints of an error, and what the line for people is made of. */
interface ErrorFacts {
  readonly error: string;
  readonly message: string;
  readonly field?: string | undefined;
  readonly details?: readonly ErrorDetailRow[] | undefined;
  readonly details_count?: number | undefined;
  readonly request_id?: string | undefined;
  /** Where the gateway says so: how long to wait before asking again. */
  readonly retry_after_seconds?: number;
  /** What to do about it, where the message does not say. */
  readonly fix?: string | undefined;
}

/** Ends a command with a message for people and an exit code for scripts. */
export class CommandError extends Error {
  override readonly name = 'CommandError';
  readonly exit: ExitName;
  readonly facts: ErrorFacts;

  constructor(exit: ExitName, facts: ErrorFacts, options?: ErrorOptions) {
    super(facts.message, options);
    this.exit = exit;
    this.facts = facts;
  }
}

/** The command line is at fault. `field` is the option or argument. */
export function usageError(message: string, field?: string): CommandError {
  return new CommandError('usage', { error: 'usage', message, field });
}

/** A line of the input file is at fault. */
export function inputError(file: string, line: number | null, message: string): CommandError {
  const where = line === null ? file : `${file}, line ${line}`;
  return new CommandError('usage', { error: 'invalid_input', message: `${where}: ${message}` });
}

export function unreachable(message: string, fix?: string, cause?: unknown): CommandError {
  return new CommandError('unreachable', { error: 'unreachable', message, fix }, { cause });
}

/** The gateway's own refusal; a fault of the gateway (5xx) is no refusal. */
export function refusal(
  status: number,
  envelope: ErrorEnvelope,
  retryAfterSeconds: number | null = null,
): CommandError {
  const wait = retryAfterSeconds === null ? {} : { retry_after_seconds: retryAfterSeconds };
  return new CommandError(status >= 500 ? 'unreachable' : 'refused', {
    ...{ ...envelope, fix: FIXES[envelope.error] },
    ...wait,
  });
}

/** The same of the task surface, which says it in its own envelope. */
export function taskRefusal(status: number, { error: { code, message } }: TaskErrorEnvelope): CommandError {
  return new CommandError(status >= 500 ? 'unreachable' : 'refused', { error: code, message, fix: FIXES[code] });
}

const GIVE_A_KEY =
  'Give --key or set BATCHGATE_KEY (operator commands: --operator-key or BATCHGATE_OPERATOR_KEY; admin commands: --admin-key or BATCHGATE_ADMIN_KEY).';
const FIXES: { readonly [error: string]: string } = { unauthorized: GIVE_A_KEY, UNAUTHORIZED: GIVE_A_KEY };

const SHOWN_DETAILS = 10;

/** One clear line, then a line for each finding behind it. Anything that could steer a terminal is gone. */
export function describeError({ facts }: CommandError): string {
  const { error, message, field, fix, details = [], details_count, request_id } = facts;
  const code = UNSAID.includes(error) ? '' : `${error}: `;
  const notes = [
    field === undefined || message.includes(field) ? null : `field: ${field}`,
    request_id === undefined ? null : `request id: ${request_id}`,
  ].filter((note) => note !== null);
  const first = [`${code}${message}`, fix, notes.length > 0 ? `(${notes.join(', ')})` : undefined];
  const isSaid = details.length === 1 && details.every((detail) => message.includes(detail.message));
  const shown = isSaid ? [] : details.slice(0, SHOWN_DETAILS);
  const rest = (details_count ?? details.length) - shown.length;
  const lines = [
    first.filter((part) => part !== undefined).join(' '),
    ...shown.map(describeDetail),
    ...(shown.length > 0 && rest > 0 ? [`  … and ${rest} more`] : []),
  ];
  return lines.map(plainText).join('\n');
}

/** Errors of our own, whose sentence says it all. */
const UNSAID = ['usage', 'invalid_input', 'unreachable', 'interrupted', 'internal_error'];

function describeDetail({ line, index, custom_id, field, message }: ErrorDetailRow): string {
  const place = [
    line === undefined ? (index === undefined ? null : `item ${index}`) : `line ${line}`,
    custom_id ?? null,
    field ?? null,
  ].filter((part) => part !== null);
  return `  ${place.join(', ')}: ${message}`;
}

export function errorJson({ facts, exit }: CommandError): string {
  return JSON.stringify({ ...facts, exit_code: exitCode(exit) });
}

/** Text from elsewhere without control characters: on a terminal they would be obeyed. */
export function plainText(text: string): string {
  return text.replaceAll(/\p{Cc}/gu, ' ');
}
