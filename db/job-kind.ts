/** SQL of the kind of the job with a uuid, also where its row is gone: only drafts of batch jobs ever go. */
export function kindOf(uuid: string): string {
  return `coalesce((SELECT of_kind.kind FROM batch_jobs of_kind WHERE of_kind.job_id = ${uuid}), 'batch')`;
}
