import type { JobRow } from '../../db/job-rows.ts';
import { prepared } from '../../db/prepared.ts';
import { chooseCredential } from '../../db/provider-credentials.ts';
import type { ShardRow } from '../../db/shards.ts';
import type { TargetPrice } from '../../db/target-prices.ts';
import type { FailureCode } from '../../domain/failure.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { readOutputCap } from '../../domain/output-cap.ts';
import type { DirectAnswer } from '../../providers/provider.ts';
import { ProviderError, type ProviderErrorCode } from '../../providers/provider-error.ts';
import { UntranslatableRequest } from '../../providers/untranslatable-request.ts';
import type { ActivityDependencies } from '../dependencies.ts';

/** What an attempt came to: an answer is final, whatever it says; of a failure its code says whether it is. */
export type Outcome =
  | { readonly kind: 'answer'; readonly answer: DirectAnswer }
  | {
      readonly kind: 'failure';
      readonly code: FailureCode;
      /** Ours; null for the usual one of the code. */
      readonly message: string | null;
      readonly retryAfterMs: number | null;
      readonly error: ProviderError | null;
    };

/** What a call that says nothing of its request means for it. */
const FAILURE_OF: { readonly [code in Exclude<ProviderErrorCode, 'aborted'>]: FailureCode } = {
  rate_limited: 'rate_limited',
  capacity_full: 'rate_limited',
  quota_exhausted: 'provider_account_exhausted',
  credential_refused: 'provider_credential_rejected',
  rejected: 'invalid_request',
  already_ended: 'unknown_provider_error',
  not_found: 'model_unavailable',
  too_large: 'invalid_request',
  unavailable: 'provider_server_error',
  connection_lost: 'provider_unreachable',
  timed_out: 'provider_timeout',
  malformed_reply: 'malformed_result',
};

interface Question {
  readonly job: JobRow;
  readonly shard: ShardRow;
  readonly target: TargetPrice;
  readonly request: JsonObject;
  readonly signal: AbortSignal;
}

/** Sends the request once. Throws ProviderError `aborted` when the signal fires, and what is no fault of the provider's. */
export async function askProvider(
  { db, providers }: Pick<ActivityDependencies, 'db' | 'providers'>,
  { job, shard, target, request, signal }: Question,
): Promise<Outcome> {
  const credentialId = await chooseCredential(prepared(db.pool), job, shard.provider);
  const provider = await providers.of(shard.provider, credentialId);
  const { endpoint } = job;
  const { heldReplies: held } = target;
  const defaultMaxOutputTokens = readOutputCap(endpoint, request).reasons ? held.reasoning : held.plain;
  try {
    const call = { endpoint, model: shard.providerModel, request, defaultMaxOutputTokens, signal };
    return { kind: 'answer', answer: await provider.complete(call) };
  } catch (error) {
    if (error instanceof UntranslatableRequest) return untranslatable(error);
    if (!(error instanceof ProviderError) || error.code === 'aborted') throw error;
    // Never connected, rather than answered with a fault.
    const isAway = error.code === 'unavailable' && error.status === null;
    const code = isAway ? 'provider_unreachable' : FAILURE_OF[error.code];
    return { kind: 'failure', code, message: null, retryAfterMs: error.retryAfterMs, error };
  }
}

/** The words are ours and quote nothing. */
function untranslatable({ field, message }: UntranslatableRequest): Outcome {
  const code = 'invalid_request';
  return { kind: 'failure', code, message: `${field}: ${message}`, retryAfterMs: null, error: null };
}
