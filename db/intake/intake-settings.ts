import { MAX_MODELS } from './group-tally.ts';
import type { SpoolSettings } from './item-spool.ts';

const MIB = 1024 * 1024;
const GIB = 1024 * MIB;

/** Limits of what one call may bring, and of what a job may hold. */
export interface IntakeLimits {
  readonly maxLineBytes: number;
  /** Of one request as compact JSON. */
  readonly maxRequestBytes: number;
  /** Of a JSON append, after decompression. */
  readonly maxJsonBytes: number;
  /** Of an NDJSON append or a manifest, after decompression. */
  readonly maxStreamBytes: number;
  readonly maxGzipRatio: number;
  readonly maxItemsPerJob: number;
  readonly maxModelsPerJob: number;
  /** How long a call waits for another that is changing the same job. */
  readonly lockTimeoutMs: number;
}

/** All that the intake of items is set by. */
export interface IntakeSettings {
  readonly spool: SpoolSettings;
  readonly limits: IntakeLimits;
}

export const DEFAULT_INTAKE_LIMITS: IntakeLimits = {
  maxLineBytes: 8 * MIB,
  maxRequestBytes: 8 * MIB,
  maxJsonBytes: 32 * MIB,
  maxStreamBytes: 64 * GIB,
  maxGzipRatio: 200,
  maxItemsPerJob: 5_000_000,
  maxModelsPerJob: MAX_MODELS,
  lockTimeoutMs: 10_000,
};

/** Of each half of a body: ids and measures, and requests. */
export const DEFAULT_SPOOL_MEMORY_BYTES = MIB;
