/** Brings the database at DATABASE_URL up to this version. */
import { readDatabaseUrl } from '../config/env.ts';
import { migrate } from '../db/migrations.ts';

try {
  const applied = await migrate(readDatabaseUrl(), { onProgress: (message) => console.log(message) });
  console.log(applied.length === 0 ? 'The database is up to date.' : `Applied ${applied.length} migration(s).`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
