import type { WaitingReason } from '../activities/interfaces.ts';
import { detailsTable } from './details.ts';
import type { ProviderBatchInput, ProviderBatchState } from './messages.ts';
import { ownAttribute } from './own-attribute.ts';
import { searchAttributes } from './search-attributes.ts';

const WORDS: { readonly [reason in WaitingReason]?: string } = {
  provider_trouble: 'the provider does not answer as it should',
  provider_account: "waiting for the provider's account to be paid for",
  credential_refused: 'the provider refuses the credential',
  confirming_submission: 'looking for the batch of an unanswered create',
  submission_turn: 'waiting for the answer to another create',
  batch_denied: 'the provider denies the batch',
  batch_overdue: 'the provider should have ended the batch by now',
};

/** What a shard waits for, for somebody who reads along. */
export function waitingFor(reason: WaitingReason): string {
  return WORDS[reason] ?? `waiting for ${reason.replaceAll('_', ' ')}`;
}

/** Where the shard stands and what happens next. */
export function detailsOf(input: ProviderBatchInput, state: ProviderBatchState): string {
  return detailsTable(state.stage, [
    ['job', input.jobId],
    ['shard', `${input.shard}, attempt ${state.attempt}`],
    ['target', `${input.provider}/${ownAttribute(searchAttributes.model) ?? 'not known'}`],
    ['native status', state.nativeStatus ?? 'not known yet'],
    ['polls', String(state.polls)],
    ['next step at', state.nextPollAt ?? 'now'],
    ['cancel requested', state.deadlinePassed ? 'by the deadline' : state.cancelRequested ? 'yes' : 'no'],
  ]);
}
