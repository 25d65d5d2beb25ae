/** Gives an empty gateway its first tenant, budget and keys, and prints the keys: they are shown this once. */
import { readDatabaseUrl } from '../config/env.ts';
import { bootstrap } from '../db/bootstrap.ts';
import { openDatabase } from '../db/client.ts';

const db = openDatabase({ url: readDatabaseUrl(), poolSize: 2, applicationName: 'batchgate-first-keys' });
try {
  const keys = await bootstrap(db);
  if (keys === null) {
    console.error('This gateway has keys already; a key that is lost cannot be shown again.');
    process.exitCode = 1;
  } else {
    console.log(`admin key     ${keys.adminKey}\noperator key  ${keys.operatorKey}\ntenant key    ${keys.tenantKey}`);
  }
} finally {
  await db.close();
}
