import { createWebhookActivities } from '../../../activities/webhooks/create-webhook-activities.ts';
import type { WebhookDependencies } from '../../../activities/webhooks/dependencies.ts';
import { replayDelivery } from '../../../api/operations/webhook-deliveries.ts';
import { createEndpoint, rotateEndpointSecret } from '../../../api/operations/webhook-endpoints.ts';
import { createKey } from '../../../db/api-keys.ts';
import type { Database } from '../../../db/client.ts';
import { insertEvent, type NewEvent } from '../../../db/events.ts';
import { inTransaction } from '../../../db/transaction.ts';
import { type DeliveryRow, listDeliveries } from '../../../db/webhook-deliveries.ts';
import type { Principal } from '../../../domain/principal.ts';
import { runActivity, TEST_CIPHER, testDependencies } from '../../harness/activities.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { TEST_FETCH_HOSTS } from '../../harness/test-intake.ts';

const MAX_STEPS = 500;

/** Webhooks of a database, delivered by the real activity under a clock that a test moves. */
export class WebhookFixture {
  /** Milliseconds since 1970; the real time at first. */
  clockMs = Date.now();
  readonly db: Database;
  readonly #more: Partial<WebhookDependencies>;

  constructor(db: Database, more: Partial<WebhookDependencies> = {}) {
    this.db = db;
    this.#more = more;
  }

  now = (): Date => new Date(this.clockMs);

  /** The admin of a new tenant. */
  async admin(): Promise<Principal & { tenantId: string }> {
    const { tenantId } = await insertTenant(this.db);
    const { keyId } = await createKey(this.db.pool, { role: 'tenant_admin', name: 'test', tenantId });
    return { keyId, role: 'tenant_admin', tenantId, projectId: null, customerId: null, scopes: [] };
  }

  async endpoint(principal: Principal, url: string, more: Record<string, unknown> = {}) {
    const request = { principal, endpoint: { url, ...more }, idempotency: null };
    const { body } = await createEndpoint(this.#api(), request);
    const made: { endpoint_id: string; secret: string } = JSON.parse(body);
    return { endpointId: made.endpoint_id, secret: made.secret };
  }

  /** The new secret. */
  async rotate(principal: Principal, endpointId: string, overlapSeconds: number): Promise<string> {
    const rotation = { overlap_seconds: overlapSeconds };
    const { body } = await rotateEndpointSecret(this.#api(), { principal, endpointId, rotation, idempotency: null });
    return JSON.parse(body).secret;
  }

  async replay(principal: Principal, deliveryId: string): Promise<void> {
    await replayDelivery(this.#api(), { principal, deliveryId, idempotency: null });
  }

  /** Tells of something, and answers the deliveries of the tenant, the newest first. */
  async tell(tenantId: string, event: Partial<NewEvent> = {}): Promise<DeliveryRow[]> {
    const told = { tenantId, jobId: null, type: 'batch_job.completed', data: { status: 'completed' }, ...event };
    await inTransaction(this.db, (client) => insertEvent(client, told));
    return this.deliveries(tenantId);
  }

  deliveries(tenantId: string): Promise<DeliveryRow[]> {
    const scope = { tenantId, projectId: null, customerId: null };
    return listDeliveries(this.db.pool, scope, {}, { after: null, limit: 100 });
  }

  /** One call of the activity. */
  attempt(deliveryId: string) {
    const activities = createWebhookActivities({
      ...testDependencies(this.db),
      cipher: TEST_CIPHER,
      now: this.now,
      allowedFetchHosts: TEST_FETCH_HOSTS,
      answerMs: 5_000,
      ...this.#more,
    });
    return runActivity(activities.deliverWebhook, { deliveryId });
  }

  /** What the workflow does, with every wait passed over; answers the state in the end and the waits. */
  async deliver(deliveryId: string): Promise<{ state: string; waitsMs: number[] }> {
    const waitsMs: number[] = [];
    for (let step = 0; step < MAX_STEPS; step += 1) {
      const answer = await this.attempt(deliveryId);
      if (answer.kind === 'over') return { state: answer.state, waitsMs };
      waitsMs.push(answer.delayMs);
      this.clockMs += answer.delayMs;
    }
    throw new Error('the delivery never ends');
  }

  #api() {
    return { db: this.db, now: this.now, cipher: TEST_CIPHER, allowedFetchHosts: TEST_FETCH_HOSTS };
  }
}
