import { Context } from '@temporalio/activity';
import { ArtifactStoreError } from '../../artifacts/store.ts';
import { insertRepairs } from '../../db/document-repairs.ts';
import { getRun } from '../../db/document-runs.ts';
import { awaitNextAttempt, readOpenDocuments, renewDocumentLease, takeDocument } from '../../db/run-documents.ts';
import { DOCUMENT_ERROR_OF, wouldCrossTier } from '../../domain/document-attempt.ts';
import { type DocumentErrorCode, documentErrorMessage } from '../../domain/document-error.ts';
import { repairRequest } from '../../domain/extraction-request.ts';
import type { FailureCode } from '../../domain/failure.ts';
import type { JsonObject } from '../../domain/json-object.ts';
import { nextAttemptDelay } from '../../domain/task-attempt.ts';
import type { Usage } from '../../domain/usage.ts';
import type { DirectAnswer } from '../../providers/provider.ts';
import type { ActivityDependencies } from '../dependencies.ts';
import type { DocumentActivities, DocumentStep } from '../interfaces.ts';
import { askProvider, type Outcome } from '../tasks/ask-provider.ts';
import { LeaseLost, leaseEnd, whileLeased } from '../tasks/task-lease.ts';
import { lineOfAnswer, lineOfFailure, withEarlierUsage } from '../tasks/task-line.ts';
import { untilWritten } from '../until-written.ts';
import { buildRequest, weightOf } from './build-request.ts';
import { endDocument, ifUnderWay } from './end-document.ts';
import { judgeReply, type Misfit, openMisfit, sealMisfit } from './judge-reply.ts';
import { type DocumentAttempt, loadAttempt } from './load-attempt.ts';

/** How an attempt went: `request` is what was sent, null where nothing could be. */
type Went =
  | { readonly kind: 'asked'; readonly outcome: Outcome; readonly request: JsonObject }
  | { readonly kind: 'not_asked'; readonly code: DocumentErrorCode; readonly mayHelp: boolean };

const AGAIN: DocumentStep = { kind: 'again' };

/**
 * One attempt of whichever document of a run is due: taken by its row, asked about and written down, each transaction short and
 * none open while the provider is asked. An answer that does not fit is kept, and the next attempt asks for it to be mended.
 * What an attempt brings counts only while it is the one under way.
 */
export function createAttemptDocument(dependencies: ActivityDependencies): DocumentActivities['attemptDocument'] {
  const { db, settings, now } = dependencies;
  return async ({ runId }) => {
    const run = await getRun(db.pool, runId);
    const at = now();
    const taken = await takeDocument(db.pool, run.uuid, { at, leasedUntil: leaseEnd(at) });
    if (taken === null) return restOf(dependencies, run.uuid);
    const attempt = await loadAttempt(dependencies, run, taken);
    if (taken.wasLost && taken.failures >= settings.taskAttempts) {
      await fail(dependencies, attempt, { code: 'worker_lost', shown: 'internal', request: null });
      return AGAIN;
    }
    try {
      const renew = (until: Date) => renewDocumentLease(db.pool, taken, until);
      await whileLeased(dependencies, renew, async (signal) => {
        const went = await dependencies.documentBytes.run(weightOf(taken), () => ask(dependencies, attempt, signal));
        await untilWritten(() => record(dependencies, attempt, went));
        report(dependencies, attempt, went);
      });
    } catch (error) {
      const isOver = error instanceof LeaseLost;
      const isStopped = Context.current().cancellationSignal.aborted;
      if (!isOver && !isStopped) throw error;
      // Its worker stops: the document is another's to take, at once, and this is counted as no failure.
      if (!isOver) await again(dependencies, attempt, { delayMs: 0, hasFailed: false });
    }
    return AGAIN;
  };
}

/** Nothing is due: this lane waits for what failed for the moment, or has no more to do. */
async function restOf({ db, now }: ActivityDependencies, runUuid: string): Promise<DocumentStep> {
  const at = now();
  const { nextAttemptAt } = await readOpenDocuments(db.pool, runUuid, at);
  if (nextAttemptAt === null) return { kind: 'idle' };
  return { kind: 'wait', delayMs: Math.max(1, nextAttemptAt.getTime() - at.getTime()) };
}

async function ask(dependencies: ActivityDependencies, attempt: DocumentAttempt, signal: AbortSignal): Promise<Went> {
  const { document, run, repair, capability, maxOutputTokens } = attempt;
  try {
    const { columns } = run;
    const built = await buildRequest(dependencies, { document, columns, capability, maxOutputTokens, signal });
    if (built.kind === 'unreadable') return { kind: 'not_asked', code: built.code, mayHelp: false };
    const misfit = repair === null ? null : await openMisfit(dependencies.cipher, document, repair.sealed);
    const request = misfit === null ? built.request : repairRequest(built.request, misfit.reply, misfit.problems);
    return { kind: 'asked', request, outcome: await askProvider(dependencies, { ...attempt, request, signal }) };
  } catch (error) {
    if (!(error instanceof ArtifactStoreError) || signal.aborted) throw error;
    return { kind: 'not_asked', code: 'file_unavailable', mayHelp: true };
  }
}

async function record(dependencies: ActivityDependencies, attempt: DocumentAttempt, went: Went): Promise<void> {
  if (went.kind === 'not_asked') {
    const failed = { code: went.mayHelp ? 'unknown_provider_error' : 'invalid_request', shown: went.code } as const;
    if (went.mayHelp && (await tryAgain(dependencies, attempt, { code: failed.code, retryAfterMs: null }))) return;
    return fail(dependencies, attempt, { ...failed, request: null });
  }
  const { outcome, request } = went;
  if (outcome.kind === 'answer') return recordAnswer(dependencies, attempt, { answer: outcome.answer, request });
  if (await tryAgain(dependencies, attempt, outcome)) return;
  const { code } = outcome;
  await fail(dependencies, attempt, { code, shown: DOCUMENT_ERROR_OF[code], request });
}

async function recordAnswer(
  dependencies: ActivityDependencies,
  attempt: DocumentAttempt,
  { answer, request }: { readonly answer: DirectAnswer; readonly request: JsonObject },
): Promise<void> {
  const { db, cipher } = dependencies;
  const { document, run, repair } = attempt;
  const own = await lineOfAnswer(db, attempt, answer);
  const line = repair?.usage ? await withEarlierUsage(db, attempt, own, repair.usage) : own;
  const settle = (end: Parameters<typeof endDocument>[2]['end']) =>
    endDocument(dependencies, attempt, { line, end, request });
  if (answer.kind === 'failed') return settle({ state: 'failed', code: DOCUMENT_ERROR_OF[answer.code] });
  const judged = await judgeReply(cipher, document, run.columns, answer.body);
  if (judged.kind === 'end') return settle(judged.end);
  if (repair !== null || !mayMend(attempt, own.usage)) return settle({ state: 'failed', code: 'rows_do_not_fit' });
  await keepMisfit(dependencies, attempt, judged.misfit, own.usage);
}

function mayMend({ target: { price } }: DocumentAttempt, usage: Usage): boolean {
  return !wouldCrossTier(usage, price.longContext?.aboveInputTokens ?? null);
}

/** The next attempt, which is due at once, asks for it to be mended; what this one used is settled with it. */
async function keepMisfit(
  dependencies: ActivityDependencies,
  attempt: DocumentAttempt,
  misfit: Misfit,
  usage: Usage,
): Promise<void> {
  const { document, run } = attempt;
  const sealed = await sealMisfit(dependencies.cipher, document, misfit);
  await ifUnderWay(dependencies, attempt, async (client, _job, at) => {
    await insertRepairs(client, run.uuid, [{ uuid: document.uuid, sealed, usage }]);
    await awaitNextAttempt(client, document, { at, hasFailed: false });
  });
}

/** False where the failure is final, or was one too many. */
async function tryAgain(
  dependencies: ActivityDependencies,
  attempt: DocumentAttempt,
  { code, retryAfterMs }: { readonly code: FailureCode; readonly retryAfterMs: number | null },
): Promise<boolean> {
  const { settings, random } = dependencies;
  const delayMs = nextAttemptDelay({
    code,
    attempts: attempt.document.failures + 1,
    maxAttempts: settings.taskAttempts,
    firstDelayMs: settings.taskRetryMs,
    retryAfterMs,
    random01: random(),
  });
  if (delayMs === null) return false;
  await again(dependencies, attempt, { delayMs, hasFailed: true });
  return true;
}

async function again(
  dependencies: ActivityDependencies,
  attempt: DocumentAttempt,
  { delayMs, hasFailed }: { readonly delayMs: number; readonly hasFailed: boolean },
): Promise<void> {
  await ifUnderWay(dependencies, attempt, (client, _job, at) =>
    awaitNextAttempt(client, attempt.document, { at: new Date(at.getTime() + delayMs), hasFailed }),
  );
}

/** Free of charge, but for what an earlier answer had used. */
async function fail(
  dependencies: ActivityDependencies,
  attempt: DocumentAttempt,
  failed: { readonly code: FailureCode; readonly shown: DocumentErrorCode; readonly request: JsonObject | null },
): Promise<void> {
  const { shard, itemNo, repair } = attempt;
  const message = documentErrorMessage(failed.shown);
  const own = lineOfFailure(shard, { itemNo, code: failed.code, message });
  const line = repair?.usage ? await withEarlierUsage(dependencies.db, attempt, own, repair.usage) : own;
  const { request, shown: code } = failed;
  await endDocument(dependencies, attempt, { line, end: { state: 'failed', code }, request });
}

function report({ log }: ActivityDependencies, attempt: DocumentAttempt, went: Went): void {
  const { run, document, job, shard, repair } = attempt;
  const { provider, providerModel: model } = shard;
  const facts = { runId: run.runId, documentId: document.documentId, tenantId: job.tenantId, provider, model };
  const isRepair = repair !== null;
  log.info({ ...facts, attempt: document.attempts, isRepair, ...failureOf(went) }, 'document attempted');
}

function failureOf(went: Went) {
  if (went.kind === 'not_asked') return { failure: went.code, status: null, requestId: null };
  const { outcome } = went;
  if (outcome.kind === 'failure')
    return {
      failure: outcome.code,
      status: outcome.error?.status ?? null,
      requestId: outcome.error?.requestId ?? null,
    };
  const failure = outcome.answer.kind === 'failed' ? outcome.answer.code : null;
  return { failure, status: null, requestId: null };
}
