import pg from 'pg';
import { currentScope, type StatementScope } from './row-scope.ts';

/** The roles that the api speaks as; see the migration row_level_security. They own nothing. */
export const TENANT_ROLE = 'batchgate_api';
export const GATEWAY_ROLE = 'batchgate_operator';

/** What a connection was last told: a role and a tenant, empty for none. */
interface Told {
  readonly role: string;
  readonly tenantId: string;
}

type OnConnect = (
  error: Error | undefined,
  client: pg.PoolClient | undefined,
  release: (error?: Error) => void,
) => void;

/**
 * A pool whose connections are handed out in the scope of who asks (db/row-scope.ts): under a role that policies hold, with
 * its tenant named. That costs a statement, and only where the connection was last used in another scope. It asks outside of
 * any transaction, so no rollback undoes it.
 */
export class ScopedPool extends pg.Pool {
  readonly #told = new WeakMap<pg.PoolClient, Told>();

  override connect(): Promise<pg.PoolClient>;
  override connect(callback: OnConnect): void;
  override connect(callback?: OnConnect): Promise<pg.PoolClient> | undefined {
    const scope = currentScope();
    const ready = super.connect().then((client) => this.#enter(client, scope));
    if (callback === undefined) return ready;
    ready.then(
      (client) => callback(undefined, client, (error) => client.release(error)),
      (error: Error) => callback(error, undefined, () => {}),
    );
    return undefined;
  }

  async #enter(client: pg.PoolClient, scope: StatementScope): Promise<pg.PoolClient> {
    const told = this.#told.get(client);
    const wanted = toldOf(scope, told);
    if (told?.role === wanted.role && told.tenantId === wanted.tenantId) return client;
    // A connection that breaks also fails the statement; that one is reported.
    const onError = (): void => {};
    client.on('error', onError);
    try {
      await client.query({
        text: "SELECT set_config('role', $1, false), set_config('batchgate.tenant_id', $2, false)",
        values: [wanted.role, wanted.tenantId],
      });
    } catch (error) {
      // Whatever it was told, it is not handed out again.
      client.release(error instanceof Error ? error : true);
      throw error;
    }
    client.off('error', onError);
    this.#told.set(client, wanted);
    return client;
  }
}

function toldOf(scope: StatementScope, told: Told | undefined): Told {
  switch (scope.kind) {
    case 'tenant':
      return { role: TENANT_ROLE, tenantId: scope.tenantId };
    case 'gateway':
      return { role: GATEWAY_ROLE, tenantId: '' };
    case 'whichever':
      return told ?? { role: TENANT_ROLE, tenantId: '' };
    case 'none':
      return { role: TENANT_ROLE, tenantId: '' };
  }
}
