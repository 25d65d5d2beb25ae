import type pg from 'pg';
import type { TaskReplay } from '../../contracts/task.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { inTransaction } from '../../db/transaction.ts';
import { type DeliveryRow, findDelivery, listDeliveries } from '../../db/webhook-deliveries.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import { hasTaskEnded } from '../../domain/task.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import { type KeptAnswer, once } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { getOwnedTask, type TaskRequest } from './owned-task.ts';
import { findReplayObstacle, startReplay } from './webhook-deliveries.ts';

/** A task is told of to its own webhook, and to endpoints, of which a tenant has a few. */
const MAX_DELIVERIES = 100;

/**
 * Sends the webhooks of a task that has ended once more, those that are over and that the key may see: the same event ids and
 * bytes. Throws `not_found`, also 24 hours after the end; `conflict` where there is none to send; `content_deleted`.
 */
export async function replayTaskWebhook(
  dependencies: Pick<ApiDependencies, 'db' | 'cipher' | 'now'>,
  request: TaskRequest & { readonly idempotency: IdempotentRequest | null },
): Promise<KeptAnswer> {
  return inTransaction(dependencies.db, async (client) => {
    // Also of a call that is repeated: after its 24 hours a task is unknown to every call.
    await getOwnedTask(dependencies, client, request);
    return once(client, request.idempotency, async () => {
      const deliveries = await replayAll(dependencies, client, request);
      const answer: TaskReplay = { id: request.taskId, deliveries };
      return { status: 202, body: JSON.stringify(answer) };
    });
  });
}

async function replayAll(
  dependencies: Pick<ApiDependencies, 'cipher' | 'now'>,
  client: pg.PoolClient,
  request: TaskRequest,
): Promise<TaskReplay['deliveries']> {
  const { taskId, principal } = request;
  const { view } = await getOwnedTask(dependencies, client, request);
  if (!hasTaskEnded(view.state))
    throw new GatewayError('conflict', `The task is ${view.state}: its webhook is called once it has ended.`);
  const scope = tenantScope(principal);
  const now = dependencies.now();
  const listed = await listDeliveries(client, scope, { subjectId: taskId }, { after: null, limit: MAX_DELIVERIES });
  const sent: DeliveryRow[] = [];
  let obstacle: GatewayError | null = null;
  // In one order for everybody, since each is locked.
  for (const { deliveryId } of listed.toSorted((one, other) => (one.deliveryId < other.deliveryId ? -1 : 1))) {
    const row = await findDelivery(client, scope, deliveryId, { lock: true });
    if (row === null) continue;
    const found = findReplayObstacle(row, now);
    obstacle ??= found;
    if (found !== null) continue;
    await startReplay(client, row, { by: principal.keyId, now });
    sent.push({ ...row, state: 'pending', nextAttemptAt: now });
  }
  if (sent.length === 0)
    throw obstacle ?? new GatewayError('conflict', 'The task has no webhook, and no endpoint was told of it.');
  return sent.map((row) => ({
    id: row.deliveryId,
    eventId: row.eventId,
    url: row.url,
    status: row.state,
    nextAttemptAt: presentTime(row.nextAttemptAt),
  }));
}
