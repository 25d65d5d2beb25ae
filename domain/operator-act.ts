/** What operators do to a job, and, as the gateway's own acts, what came of it. */
export const OPERATOR_ACTS = [
  'cancel',
  'give_up',
  're_ingest',
  'resolve',
  'gave_up',
  're_ingested',
  'resolved',
] as const;
export type OperatorAct = (typeof OPERATOR_ACTS)[number];
