import type { ActivityDependencies } from '../dependencies.ts';
import { translateFailures } from '../failures.ts';
import type { DocumentActivities, DocumentRunActivities } from '../interfaces.ts';
import { createAttemptDocument } from './attempt-document.ts';
import { createReviewRun } from './review-run.ts';
import { createWriteRequests } from './write-requests.ts';

/** Of runs over documents: what reads files or asks providers, the same on every provider's direct queue. */
export function createDocumentActivities(dependencies: ActivityDependencies): DocumentActivities {
  return translateFailures<DocumentActivities>({
    attemptDocument: createAttemptDocument(dependencies),
    writeRequests: createWriteRequests(dependencies),
  });
}

/** What speaks to Postgres alone. */
export function createDocumentRunActivities(dependencies: ActivityDependencies): DocumentRunActivities {
  return { reviewRun: createReviewRun(dependencies) };
}
