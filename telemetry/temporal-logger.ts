import type { LogMetadata, Logger as TemporalLogger, LogLevel as TemporalLogLevel } from '@temporalio/common';
import type { Logger } from './logger.ts';

const LEVEL_OF = { TRACE: 'trace', DEBUG: 'debug', INFO: 'info', WARN: 'warn', ERROR: 'error' } as const;

/** Temporal's own messages, and those of workflow and activity code, as lines of our log; for `Runtime.install`. */
export function temporalLogger(logger: Logger): TemporalLogger {
  const log = (level: TemporalLogLevel, message: string, meta?: LogMetadata): void => {
    const { error, ...fields } = meta ?? {};
    logger[LEVEL_OF[level]](error instanceof Error ? { ...fields, err: error } : { ...meta }, message);
  };
  return {
    log,
    trace: (message, meta) => log('TRACE', message, meta),
    debug: (message, meta) => log('DEBUG', message, meta),
    info: (message, meta) => log('INFO', message, meta),
    warn: (message, meta) => log('WARN', message, meta),
    error: (message, meta) => log('ERROR', message, meta),
  };
}
