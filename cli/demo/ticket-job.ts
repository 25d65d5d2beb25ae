import type { CreateJob } from '../../contracts/create-job.ts';
import type { DemoJob } from './demo-job.ts';

const SYSTEM =
  'You sort the mail of a shop. Answer with JSON alone: {"category": one of billing, delivery, damage, account, question, ' +
  'cancellation, praise, "urgency": one of low, normal, high}.';
/** Enough for the answer; it bounds what the job may cost. */
const MAX_REPLY_TOKENS = 40;
/** So that the job settles in steps, and there is something to watch. */
const SHARDS = 4;

export function ticketJob({ tickets, model, name }: { tickets: number; model: string; name: string }): CreateJob {
  return {
    endpoint: 'chat.completions',
    model,
    name,
    metadata: { purpose: 'demo' },
    request_defaults: {
      messages: [{ role: 'system', content: SYSTEM }],
      max_completion_tokens: MAX_REPLY_TOKENS,
    },
    max_cost: '5.00',
    execution: { max_items_per_shard: Math.ceil(tickets / SHARDS) },
  };
}

/** The tickets of a demo's job as the items of a manifest. */
export async function* ticketLines({ tickets, isSimulated, troubleOf }: DemoJob): AsyncGenerator<Uint8Array> {
  for (const [index, { id, subject, body, category, urgency }] of tickets.entries()) {
    const mark = troubleOf(index) ?? `[[sim:text=${JSON.stringify({ category, urgency })}]]`;
    const content = `Subject: ${subject}\n\n${body}${isSimulated ? `\n${mark}` : ''}`;
    yield Buffer.from(`${JSON.stringify({ custom_id: id, request: { messages: [{ role: 'user', content }] } })}\n`);
  }
}
