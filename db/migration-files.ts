import { createHash } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';

export const MIGRATIONS_DIRECTORY = join(import.meta.dirname, '..', 'prisma', 'migrations');

export interface MigrationFile {
  /** The folder's name, which begins with a time and so gives the order. */
  readonly name: string;
  readonly sql: string;
  /** SHA-256 of the file's bytes in hex, as Prisma keeps it. */
  readonly checksum: string;
}

/** The migrations of a folder in Prisma's layout (`<name>/migration.sql`), oldest first. */
export async function readMigrationFiles(directory: string): Promise<MigrationFile[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const bytes = await readFile(join(directory, name, 'migration.sql'));
      return { name, sql: bytes.toString('utf8'), checksum: createHash('sha256').update(bytes).digest('hex') };
    }),
  );
}
