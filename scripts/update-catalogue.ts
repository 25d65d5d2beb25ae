/** Writes prisma/catalogue.snapshot.txt anew from a freshly migrated database. Run it after adding a migration, and read the difference. */
import { writeFileSync } from 'node:fs';
import { CATALOGUE_SNAPSHOT, describeCatalogue } from '../tests/harness/catalogue.ts';
import { startTestPostgres } from '../tests/harness/postgres-server.ts';

const server = await startTestPostgres();
try {
  writeFileSync(CATALOGUE_SNAPSHOT, await describeCatalogue(server.url));
  console.log(`Wrote ${CATALOGUE_SNAPSHOT}`);
} finally {
  await server.stop();
}
