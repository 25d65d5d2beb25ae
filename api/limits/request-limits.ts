import { createHash } from 'node:crypto';
import type pg from 'pg';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import {
  CALL_COST,
  type CallClass,
  isWithinRate,
  type RateStanding,
  STATUS_READS,
  secondsToReset,
} from '../../domain/rate-limit.ts';
import { BoundedMap } from './bounded-map.ts';
import { KnownPolicies } from './known-policies.ts';
import { RateCounter } from './rate-counter.ts';
import { TaskStarts } from './task-starts.ts';
import { UploadSlots } from './upload-slots.ts';

/** Of this process; what a tenant's policy names comes before. */
export interface LimitSettings {
  /** Units of a key in a minute; see domain/rate-limit.ts. */
  readonly requestsPerMinute: number;
  /** Calls without a valid key from one address in a minute. */
  readonly refusedKeysPerMinute: number;
  /** How many proxies of the operator's own stand before the api, each of which adds to `X-Forwarded-For`. */
  readonly trustedProxies: number;
  /** Calls that bring items, at once. */
  readonly maxUploads: number;
  readonly maxUploadsPerTenant: number;
  /** Tasks that are being stored and started at once. */
  readonly maxTaskStarts: number;
  /** How long a count in the database is waited for; half a second where it is left out. */
  readonly storeWaitMs?: number;
}

/** Most keys and addresses that are remembered as refused or as good. */
const MAX_REMEMBERED = 20_000;
/** A key that was good so recently is looked up even where its address may try no more unknown ones. */
const GOOD_FOR_MS = 10 * 60_000;

interface Refused {
  readonly until: number;
  readonly limit: number;
}

/** What one api process lets through: counted with the others', but refused by its own memory alone. */
export class RequestLimits {
  readonly settings: LimitSettings;
  readonly taskStarts: TaskStarts;
  readonly #uploads: UploadSlots;
  readonly #counter: RateCounter;
  readonly #policies: KnownPolicies;
  readonly #refusedKeys = new BoundedMap<string, Refused>(MAX_REMEMBERED);
  readonly #refusedAddresses = new BoundedMap<string, Refused>(MAX_REMEMBERED);
  readonly #goodKeys = new BoundedMap<string, number>(MAX_REMEMBERED);

  constructor(settings: LimitSettings, pool: () => pg.Pool, onStoreAway: (error: unknown) => void) {
    this.settings = settings;
    this.taskStarts = new TaskStarts(settings.maxTaskStarts);
    this.#uploads = new UploadSlots(settings.maxUploads);
    this.#counter = new RateCounter(pool, onStoreAway, settings.storeWaitMs);
    this.#policies = new KnownPolicies(pool);
  }

  get uploadsUnderWay(): number {
    return this.#uploads.total;
  }

  /** Where a key stands that used up its rate; null for any other. Asks no database. */
  findRefusedKey(key: string): RateStanding | null {
    return standingOf(this.#refusedKeys, digest(key));
  }

  /** Throws `rate_limited` for a key not lately good, or none, from an address that sent too many bad ones. Asks no database. */
  requireAddress(key: string, address: string): void {
    const standing = standingOf(this.#refusedAddresses, address);
    if (standing === null || (this.#goodKeys.get(digest(key)) ?? 0) > Date.now()) return;
    throw rateLimited(
      `This address has sent more than ${standing.limit} calls without a valid key in a minute.`,
      standing,
    );
  }

  async noteBadKey(key: string, address: string): Promise<void> {
    this.#goodKeys.delete(digest(key));
    const standing = await this.#counter.take(`address:${address}`, 1, this.settings.refusedKeysPerMinute);
    if (standing.used >= standing.limit) remember(this.#refusedAddresses, address, standing);
  }

  /** Counts a call of a good key. Beyond the limit the key is refused until its window ends. */
  async countCall(key: string, { keyId, tenantId }: Principal, call: CallClass): Promise<RateStanding> {
    const known = digest(key);
    this.#goodKeys.set(known, Date.now() + GOOD_FOR_MS);
    const { requestsPerMinute } = await this.#policies.of(tenantId);
    const limit = requestsPerMinute ?? this.settings.requestsPerMinute;
    const standing = await this.#counter.take(`key:${keyId}`, CALL_COST[call], limit);
    if (!isWithinRate(standing)) remember(this.#refusedKeys, known, standing);
    return standing;
  }

  /** Counts a status read of a key, apart from its calls. */
  countStatusRead({ keyId }: Principal): Promise<RateStanding> {
    return this.#counter.take(`${STATUS_READS.name}:${keyId}`, 1, STATUS_READS.perMinute);
  }

  /** Runs a call that brings items while it has one of the places for them. Throws `concurrency_limit`. */
  async duringUpload<Result>({ tenantId }: Principal, work: () => Promise<Result>): Promise<Result> {
    const { maxUploads } = await this.#policies.of(tenantId);
    const giveBack = this.#uploads.take(tenantId ?? '', maxUploads ?? this.settings.maxUploadsPerTenant);
    try {
      return await work();
    } finally {
      giveBack();
    }
  }
}

/** For a key that used up its rate. */
export function keyRateLimited(standing: RateStanding): GatewayError {
  return rateLimited(`This key may use ${standing.limit} units of requests in a minute.`, standing);
}

/** For one that asked too often how its documents stand. */
export function statusRateLimited(standing: RateStanding): GatewayError {
  return rateLimited(
    `This key may ask ${standing.limit} times in a minute how documents and batches stand. A webhook tells it without asking.`,
    standing,
  );
}

function rateLimited(what: string, standing: RateStanding): GatewayError {
  const seconds = secondsToReset(standing);
  return new GatewayError('rate_limited', `${what} Nothing was done; calls are taken again in ${seconds} seconds.`, {
    retryAfterSeconds: seconds,
  });
}

function remember(refused: BoundedMap<string, Refused>, subject: string, { limit, resetMs }: RateStanding): void {
  refused.set(subject, { until: Date.now() + resetMs, limit });
}

function standingOf(refused: BoundedMap<string, Refused>, subject: string): RateStanding | null {
  const found = refused.get(subject);
  if (found === undefined) return null;
  const resetMs = found.until - Date.now();
  if (resetMs > 0) return { limit: found.limit, used: found.limit + 1, resetMs };
  refused.delete(subject);
  return null;
}

/** Keys themselves are kept nowhere. */
function digest(key: string): string {
  return createHash('sha256').update(key).digest('base64');
}
