import { workflowInfo } from '@temporalio/workflow';

/** Events after which a run continues as a new one. Far under Temporal's own hint, so that a history stays readable. */
const LONG_HISTORY_EVENTS = 400;

export function historyIsLong(maxEvents = LONG_HISTORY_EVENTS): boolean {
  const info = workflowInfo();
  return info.continueAsNewSuggested || info.historyLength > maxEvents;
}
