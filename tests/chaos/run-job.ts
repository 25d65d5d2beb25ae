import { z } from 'zod';
import type { JobPlan } from './plan.ts';
import type { Reply, StubbornClient } from './stubborn-client.ts';

/** What came of a job's calls, as far as its client was told. */
export interface JobTrace {
  readonly plan: JobPlan;
  /** Null until the draft was made. */
  jobId: string | null;
  /** Items that the gateway said it took. */
  items: number;
  /** `unsent` until the submit was answered; then its status. */
  submitted: 'unsent' | number;
}

const SOON = { initial_seconds: 0.2, factor: 1, max_seconds: 0.2 };

const Created = z.object({ job_id: z.string() });
const Submitted = z.object({ status: z.string() });

export function newTrace(plan: JobPlan): JobTrace {
  return { plan, jobId: null, items: 0, submitted: 'unsent' };
}

/**
 * Makes the draft, appends its items and submits it, each with an Idempotency-Key and again until it is answered. A job
 * that was cancelled in between refuses the rest, which is no fault. Throws where the gateway answers what it must not.
 */
export async function runJob(client: StubbornClient, trace: JobTrace, name: string): Promise<void> {
  const { plan } = trace;
  const doubled = plan.doubles;
  const created = await client.call('POST', '/v1/batch-jobs', {
    json: {
      endpoint: 'chat.completions',
      model: plan.model,
      name,
      execution: { max_items_per_shard: plan.maxItemsPerShard },
      ...(plan.maxCost !== null && { max_cost: plan.maxCost }),
      ...(plan.tries > 1 && { retry_policy: { max_attempts: plan.tries, backoff: SOON } }),
    },
    idempotencyKey: `${name}-create`,
    doubled,
  });
  if (created.status !== 201) throw unexpected('create', created);
  const jobId = Created.parse(created.json).job_id;
  trace.jobId = jobId;
  for (const [part, texts] of plan.appends.entries()) {
    const items = texts.map((text, index) => ({
      custom_id: `row_${trace.items + index + 1}`,
      request: { messages: [{ role: 'user', content: text }], max_tokens: 100 },
    }));
    const idempotencyKey = `${name}-append-${part}`;
    const appended = await client.call('POST', `/v1/batch-jobs/${jobId}/items`, {
      json: { items },
      idempotencyKey,
      doubled,
    });
    if (appended.status === 409) return;
    if (appended.status !== 200) throw unexpected('append', appended);
    trace.items += texts.length;
  }
  const submitted = await client.call('POST', `/v1/batch-jobs/${jobId}/submit`, {
    json: {},
    idempotencyKey: `${name}-submit`,
    doubled,
  });
  trace.submitted = submitted.status;
  if (![200, 202, 402, 409, 422].includes(submitted.status)) throw unexpected('submit', submitted);
  if (submitted.status === 202 && Submitted.parse(submitted.json).status === 'draft')
    throw unexpected('submit', submitted);
}

function unexpected(what: string, { status, text }: Reply): Error {
  return new Error(`${what} answered ${status}: ${text}`);
}
