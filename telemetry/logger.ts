import pino from 'pino';
import { redact, scrub } from './redact.ts';

export type Logger = pino.Logger;
export type LogLevel = 'trace' | 'debug' | 'info' | 'warn' | 'error' | 'silent';

export interface LoggerOptions {
  readonly level: LogLevel;
  /** Which process speaks. */
  readonly service: string;
  /** Standard output where none is given. */
  readonly destination?: pino.DestinationStream;
}

/**
 * One JSON object a line: `level`, `time`, `service`, `msg` and fields. Secrets and contents are taken out of fields,
 * of `child` bindings and of errors (field `err`); what looks like a key is taken out of messages too.
 */
export function createLogger({ level, service, destination }: LoggerOptions): Logger {
  const logger = pino(
    {
      level,
      base: { service },
      timestamp: pino.stdTimeFunctions.isoTime,
      formatters: { level: (label) => ({ level: label }), bindings: redact, log: redact },
      // `redact` has described the error already; pino's own serialiser would take it for something else.
      serializers: { err: (described: unknown) => described },
      hooks: { streamWrite: scrub },
    },
    destination ?? pino.destination({ fd: 1, sync: true }),
  );
  // pino passes only the first bindings through its formatter, not those of children.
  const { child } = logger;
  logger.child = function redactedChild(this: Logger, bindings, options) {
    return child.call(this, redact(bindings), options) as ReturnType<typeof child>;
  } as typeof child;
  return logger;
}
