import { keepsContent, type StorageTerms } from './storage-terms.ts';

/**
 * Where the reply of an item is, or why it is not to be had. `stored`: with the gateway. `at_provider`: read there for this
 * answer. `unavailable`: the provider could not be asked, later it may. `lost`: the provider has it no more, before its
 * time. `changed`: what is there is not what was settled, and so is not shown. `expired`: the provider's time for it is
 * over. `not_stored`: the job keeps hashes alone, and its read window is over. `deleted`: by request, or when its time was up.
 */
export const CONTENT_STATES = [
  'stored',
  'at_provider',
  'unavailable',
  'lost',
  'changed',
  'expired',
  'not_stored',
  'deleted',
] as const;
export type ContentState = (typeof CONTENT_STATES)[number];

/** What of a job decides where the replies of its items are. */
export interface ContentFacts {
  readonly terms: StorageTerms;
  readonly completedAt: Date | null;
  /** The earliest day on which a provider forgets results. */
  readonly retrievalDeadline: Date | null;
  readonly contentDeletedAt: Date | null;
  readonly providerFilesDeletedAt: Date | null;
}

/** Where the reply of a completed item of the job is at `now`; one that is `at_provider` has still to be read there. */
export function contentPlace(
  job: ContentFacts,
  now: Date,
): Extract<ContentState, 'stored' | 'at_provider' | 'expired' | 'not_stored' | 'deleted'> {
  if (job.contentDeletedAt !== null) return 'deleted';
  const { storage } = job.terms;
  if (keepsContent(storage)) return 'stored';
  if (storage === 'hashes' && (isWindowOver(job, now) || job.providerFilesDeletedAt !== null)) return 'not_stored';
  const isPast = job.retrievalDeadline !== null && job.retrievalDeadline <= now;
  return isPast || job.providerFilesDeletedAt !== null ? 'expired' : 'at_provider';
}

/** Until when results can be had; null where no end of it is set, or nothing was accepted by a provider. */
export function readableUntil(job: ContentFacts & { readonly submittedAt: Date | null }): Date | null {
  if (job.retrievalDeadline === null) return null;
  const { terms, completedAt } = job;
  if (!keepsContent(terms.storage)) {
    const windowEnd = terms.storage === 'hashes' ? windowEndOf(job) : null;
    return windowEnd !== null && windowEnd < job.retrievalDeadline ? windowEnd : job.retrievalDeadline;
  }
  // Until its end is known a job's content is kept at least for as long as if it had ended when it was submitted.
  const from = completedAt ?? job.submittedAt;
  const { contentRetentionMs } = terms;
  return from === null || contentRetentionMs === null ? null : new Date(from.getTime() + contentRetentionMs);
}

function isWindowOver(job: ContentFacts, now: Date): boolean {
  const end = windowEndOf(job);
  return end !== null && end <= now;
}

function windowEndOf({ terms, completedAt }: ContentFacts): Date | null {
  return completedAt === null ? null : new Date(completedAt.getTime() + terms.readWindowMs);
}
