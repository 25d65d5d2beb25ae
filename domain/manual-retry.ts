import { FAILURE_CLASSES, type FailureClass, retryRule } from './failure.ts';
import { type ErrorCode, GatewayError } from './gateway-error.ts';

/** What a caller wants tried again by hand. */
export interface RetryWish {
  /** Only items that ended so; null for all that may be. */
  readonly classes: readonly FailureClass[] | null;
  /** Only these custom ids; null for any. */
  readonly customIds: readonly string[] | null;
  /** Custom ids for which another request is sent along. */
  readonly corrected: readonly string[];
  readonly acknowledgesSafety: boolean;
}

/** Which classes of items a wish takes. */
export interface RetriedClasses {
  /** As they are. */
  readonly plain: readonly FailureClass[];
  /** Only items with another request, and only those that are named and acknowledged. */
  readonly ifCorrected: readonly FailureClass[];
  readonly ifNamed: readonly FailureClass[];
}

/**
 * The classes that a wish takes. Throws `safety_acknowledgement_required` or `retry_not_allowed` for a wish that asks for
 * a class and lacks what that takes.
 */
export function retriedClasses(wish: RetryWish): RetriedClasses {
  const { classes, customIds, corrected, acknowledgesSafety } = wish;
  if (acknowledgesSafety && customIds === null) {
    throw new GatewayError(
      'safety_acknowledgement_required',
      'Items blocked for safety are never retried wholesale. Review them and name them in custom_ids.',
      { field: 'custom_ids' },
    );
  }
  if (classes?.includes('safety_blocked') && !acknowledgesSafety) throw safetyRefusal('classes');
  if (classes?.includes('validation') && corrected.length === 0) throw validationRefusal('classes');
  const asked = classes ?? FAILURE_CLASSES;
  const by = (...rules: string[]) => asked.filter((each) => rules.includes(retryRule(each)));
  return {
    plain: by('automatic', 'by_hand'),
    ifCorrected: by('corrected_only'),
    ifNamed: acknowledgesSafety ? by('never_blindly') : [],
  };
}

/** The last attempt of an item that a wish names. */
export interface NamedItem {
  readonly customId: string;
  /** False for a custom id the job does not have. */
  readonly exists: boolean;
  /** Null for an item that completed. */
  readonly failureClass: FailureClass | null;
  /** Another job retries it already. */
  readonly isClaimed: boolean;
  /** Its answer may still come. */
  readonly isUncollected: boolean;
}

interface Objection {
  readonly error: ErrorCode;
  readonly message: string;
}

/**
 * Why an item that is named cannot be retried so; null for one that is taken, or passed over because nothing is left to
 * do for it: it completed, another job retries it, or the wish's own classes leave it out.
 */
export function objectionTo(item: NamedItem, wish: RetryWish): Objection | null {
  if (!item.exists) return { error: 'not_found', message: 'the job has no such item' };
  const { failureClass } = item;
  if (failureClass === null || item.isClaimed) return null;
  if (wish.classes !== null && !wish.classes.includes(failureClass)) return null;
  if (item.isUncollected) return { error: 'conflict', message: 'its answer may still come' };
  const rule = retryRule(failureClass);
  if (rule === 'corrected_only' && !wish.corrected.includes(item.customId)) {
    return { error: 'retry_not_allowed', message: 'the same request would fail again; send another one in requests' };
  }
  if (rule === 'never_blindly' && !wish.acknowledgesSafety) {
    return {
      error: 'safety_acknowledgement_required',
      message: 'it was blocked for safety; acknowledge_safety is needed',
    };
  }
  return null;
}

/** Throws one refusal for all named items that cannot be retried so: nothing is dropped in silence. */
export function requireRetriable(items: readonly NamedItem[], wish: RetryWish): void {
  const details = items.flatMap((item) => {
    const objection = objectionTo(item, wish);
    return objection === null ? [] : [{ customId: item.customId, field: 'custom_ids', ...objection }];
  });
  const [first] = details;
  if (first === undefined) return;
  const codes = new Set(details.map(({ error }) => error));
  const code = codes.size > 1 || first.error === 'not_found' ? 'retry_not_allowed' : first.error;
  const more = details.length === 1 ? '' : `, and ${details.length - 1} more`;
  throw new GatewayError(code, `Nothing was retried: ${first.customId}: ${first.message}${more}.`, {
    field: 'custom_ids',
    details,
  });
}

function safetyRefusal(field: string): GatewayError {
  return new GatewayError(
    'safety_acknowledgement_required',
    'Items blocked for safety are retried only knowingly: name them in custom_ids and set acknowledge_safety.',
    { field },
  );
}

function validationRefusal(field: string): GatewayError {
  return new GatewayError(
    'retry_not_allowed',
    'Items of class validation would fail again as they are. Send another request for each in requests.',
    { field },
  );
}

/** What was found where a wish took nothing. */
export interface LeftOver {
  /** Public ids of jobs that retry the items already, newest first. */
  readonly claimingJobs: readonly string[];
  /** Of items that nobody retries. */
  readonly classes: readonly FailureClass[];
  readonly isUncollected: boolean;
}

/** `nothing_to_retry`, with the jobs that claim the items and what the others would take; `conflict` while answers come in. */
export function nothingToRetry({ claimingJobs, classes, isUncollected }: LeftOver): GatewayError {
  if (isUncollected && claimingJobs.length === 0) {
    return new GatewayError('conflict', 'Answers of this job may still come in. Retry once they are collected.');
  }
  const claimed = claimingJobs.length === 0 ? '' : ` Its items are retried already, by ${claimingJobs.join(', ')}.`;
  const hints = classes.flatMap((each) => HINTS[retryRule(each)] ?? []);
  return new GatewayError(
    'nothing_to_retry',
    `There is nothing to retry.${claimed}${hints.map((hint) => ` ${hint}`).join('')}`,
  );
}

const HINTS: { readonly [rule: string]: string } = {
  corrected_only: 'Items of class validation need another request each, in requests.',
  never_blindly: 'Items blocked for safety have to be named in custom_ids, with acknowledge_safety.',
};
