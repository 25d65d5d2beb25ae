import type { JobWebhookSecret, RotateWebhookSecret } from '../../contracts/webhook.ts';
import { recordAudit } from '../../db/audit-log.ts';
import type { IdempotentRequest } from '../../db/idempotency-keys.ts';
import { newId } from '../../db/ids.ts';
import { findJobSecret, insertSecret, replaceSecret } from '../../db/webhook-secrets.ts';
import { GatewayError } from '../../domain/gateway-error.ts';
import type { Principal } from '../../domain/principal.ts';
import type { ApiDependencies } from '../dependencies.ts';
import { presentTime } from '../presentation/time.ts';
import type { KeptAnswer } from './once.ts';
import { tenantScope } from './owned-job.ts';
import { makeSecret, showingSecret } from './webhook-secret.ts';

type Dependencies = Pick<ApiDependencies, 'db' | 'now' | 'cipher'>;

/** Whether the keys of the same tenant, project and customer have a secret for webhooks of jobs, never which. */
export async function getJobWebhookSecret(
  { db, now }: Pick<Dependencies, 'db' | 'now'>,
  principal: Principal,
): Promise<JobWebhookSecret> {
  const secret = await findJobSecret(db.pool, tenantScope(principal));
  const previousUntil = secret?.previousUntil ?? null;
  return {
    exists: secret !== null,
    created_at: presentTime(secret?.createdAt ?? null),
    rotated_at: presentTime(secret?.rotatedAt ?? null),
    previous_secret_until: presentTime(previousUntil !== null && previousUntil > now() ? previousUntil : null),
  };
}

/** Makes that secret, or another one in its place; the answer holds it, this once. */
export async function rotateJobWebhookSecret(
  { db, now, cipher }: Dependencies,
  request: {
    readonly principal: Principal;
    readonly rotation: RotateWebhookSecret;
    readonly idempotency: IdempotentRequest | null;
  },
): Promise<KeptAnswer> {
  const { principal, rotation, idempotency } = request;
  const holder = tenantScope(principal);
  return showingSecret(db, idempotency, async (client, show) => {
    const at = now();
    const current = await findJobSecret(client, holder, { lock: true });
    const secretId = current?.secretId ?? newId('webhookSecret');
    const { sealed, shown } = await makeSecret(cipher, secretId);
    const until = current === null ? null : new Date(at.getTime() + rotation.overlap_seconds * 1_000);
    if (current !== null && until !== null) {
      await replaceSecret(client, current, { sealed, previousUntil: until, now: at });
    } else if (!(await insertSecret(client, holder, { secretId, sealed, createdAt: at, endpointId: null }))) {
      throw new GatewayError('conflict', 'Another request has just made the secret. Ask again to replace it.');
    }
    await recordAudit(client, {
      act: 'webhook_endpoint.secret_rotated',
      actor: principal.keyId,
      tenantId: holder.tenantId,
      subject: secretId,
      details: { of: 'jobs', overlap_seconds: rotation.overlap_seconds },
    });
    show(shown);
    return { status: 200, body: JSON.stringify({ secret: null, previous_secret_until: presentTime(until) }) };
  });
}
