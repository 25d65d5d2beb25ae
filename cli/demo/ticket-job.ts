import type { CreateJob } from '../../contracts/create-job.ts';
import type { Ticket } from './tickets.ts';

const SYSTEM =
  'You sort the mail of a shop. Answer with JSON alone: {"category": one of billing, delivery, damage, account, question, ' +
  'cancellation, praise, "urgency": one of low, normal, high}.';
/** Enough for the answer; it bounds what the job may cost. */
const MAX_REPLY_TOKENS = 40;
/** So that the job settles in steps, and there is something to watch. */
const SHARDS = 6;

export function ticketJob(tickets: number): CreateJob {
  return {
    endpoint: 'chat.completions',
    model: 'analysis-small',
    name: 'Support tickets (demo)',
    metadata: { purpose: 'demo' },
    request_defaults: {
      messages: [{ role: 'system', content: SYSTEM }],
      max_completion_tokens: MAX_REPLY_TOKENS,
    },
    max_cost: '5.00',
    execution: { max_items_per_shard: Math.ceil(tickets / SHARDS) },
  };
}

/**
 * The tickets as the items of a manifest. A simulator understands nothing, so it is told what a model would answer; a
 * real provider is not.
 */
export async function* ticketLines(tickets: readonly Ticket[], isSimulated: boolean): AsyncGenerator<Uint8Array> {
  for (const { id, subject, body, category, urgency } of tickets) {
    const answer = isSimulated ? `\n[[sim:text=${JSON.stringify({ category, urgency })}]]` : '';
    const content = `Subject: ${subject}\n\n${body}${answer}`;
    yield Buffer.from(`${JSON.stringify({ custom_id: id, request: { messages: [{ role: 'user', content }] } })}\n`);
  }
}
