import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { createKey } from '../db/api-keys.ts';
import { bootstrap, type FirstKeys, LOCAL_TENANT_ID } from '../db/bootstrap.ts';
import { type Database, openDatabase } from '../db/client.ts';
import { migrate } from '../db/migrations.ts';
import { inTransaction } from '../db/transaction.ts';
import { startSimulators } from '../simulators/start.ts';
import { registerSearchAttributes, SEARCH_ATTRIBUTE_NAMES } from '../worker/temporal-setup.ts';
import type { Environment } from './stack-environment.ts';
import type { StackParts } from './stack-options.ts';

/** What this project's own stack is made of. */
export const STACK_PARTS: StackParts = {
  migrate: async (databaseUrl) => {
    await migrate(databaseUrl);
  },
  bootstrap: makeKeys,
  startSimulators,
  searchAttributes: Object.fromEntries(SEARCH_ATTRIBUTE_NAMES.map((name) => [name, 'Keyword'])),
  prepareTemporal,
};

/** The first keys of a new database, or new ones where the file with the first was lost. */
async function makeKeys(databaseUrl: string): Promise<FirstKeys> {
  const db = openDatabase({ url: databaseUrl, poolSize: 1, applicationName: 'batchgate-local' });
  try {
    return (await bootstrap(db)) ?? (await replaceKeys(db));
  } finally {
    await db.close();
  }
}

async function replaceKeys(db: Database): Promise<FirstKeys> {
  return inTransaction(db, async (client) => {
    const admin = await createKey(client, { role: 'gateway_admin', name: 'Local admin key', tenantId: null });
    const operator = await createKey(client, { role: 'operator', name: 'Local operator key', tenantId: null });
    const tenant = await createKey(client, {
      role: 'tenant_admin',
      name: 'Local tenant key',
      tenantId: LOCAL_TENANT_ID,
    });
    return { adminKey: admin.key, operatorKey: operator.key, tenantKey: tenant.key };
  });
}

/** A server of our own knows the search attributes from its command line; one that was given may lack them. */
async function prepareTemporal(environment: Environment): Promise<void> {
  const { connectionOptions, namespace = 'default' } = loadClientConnectConfig({
    overrideEnvVars: Object.fromEntries(
      Object.entries(environment).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
    ),
  });
  const connection = await Connection.connect(connectionOptions);
  try {
    await registerSearchAttributes(connection, namespace);
  } finally {
    await connection.close();
  }
}
