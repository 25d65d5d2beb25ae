/** What a document may refer to. Paths are relative to the repository, with `/`. */
export interface Repository {
  /** Whether a file or folder is there. */
  exists(path: string): boolean;
  /** Whether any file matches a pattern with `*`. */
  matches(pattern: string): boolean;
  /** Names of the top folders and files, hidden ones too. */
  readonly topNames: ReadonlySet<string>;
  /** Names of the npm scripts. */
  readonly scripts: ReadonlySet<string>;
  /** The headings of a Markdown file as GitHub makes anchors of them. */
  anchors(path: string): ReadonlySet<string>;
}

export interface DocProblem {
  /** 1-based. */
  readonly line: number;
  readonly message: string;
}

const LINK = /\[[^\]]*\]\(([^()\s]+)\)/g;
const CODE_SPAN = /`([^`]+)`/g;
const NPM_SCRIPT = /\bnpm run (?:--silent |-s )?([\w:-]+)/g;
const FENCE = /^\s*(?:```|~~~)\s*(\S*)/;
const SHELLS: ReadonlySet<string> = new Set(['sh', 'bash', 'console']);
/** The characters of a path or of a pattern over paths. */
const PATH_LIKE = /^[\w.@*-]+(?:\/[\w.@*{}<>-]*)*$/;
const FILE_ENDING = /\.(?:ts|md|json|ya?ml|sql|prisma|cjs|mjs|sh|txt|svg)$/;

/**
 * What a Markdown document cites that is not there: relative links and their anchors, paths in code spans, paths and
 * `npm run` in shell blocks. A span counts as a path when it begins with a top folder or file of the repository, or
 * when it has a slash and ends like one of its files.
 */
export function checkDocument(path: string, text: string, repository: Repository): DocProblem[] {
  const problems: DocProblem[] = [];
  let fence: string | null = null;
  for (const [index, line] of text.split('\n').entries()) {
    const opening = FENCE.exec(line);
    if (opening !== null) {
      fence = fence === null ? (opening[1] ?? '') : null;
      continue;
    }
    const messages = fence === null ? checkProse(path, line, repository) : checkBlock(fence, line, repository);
    problems.push(...messages.map((message) => ({ line: index + 1, message })));
  }
  return problems;
}

/** The headings of a Markdown text as GitHub makes anchors of them. */
export function headingAnchors(text: string): Set<string> {
  const anchors = new Set<string>();
  for (const [, heading = ''] of text.matchAll(/^#{1,6} +(.+)$/gm)) {
    const words = heading.toLowerCase().replaceAll(/[^\p{L}\p{N} _-]/gu, '');
    anchors.add(words.trim().replaceAll(' ', '-'));
  }
  return anchors;
}

function checkProse(path: string, line: string, repository: Repository): string[] {
  const links = [...line.matchAll(LINK)].flatMap(([, target = '']) => checkLink(path, target, repository));
  const spans = [...line.matchAll(CODE_SPAN)].flatMap(([, span = '']) => [
    ...checkScripts(span, repository),
    ...checkPath(span, repository, path),
  ]);
  return [...links, ...spans];
}

function checkBlock(language: string, line: string, repository: Repository): string[] {
  if (!SHELLS.has(language)) return [];
  const words = line.split(/[\s'"=]+/).filter((word) => word.includes('/'));
  return [...checkScripts(line, repository), ...words.flatMap((word) => checkPath(word, repository, null))];
}

function checkLink(path: string, target: string, repository: Repository): string[] {
  if (/^[a-z][a-z0-9+.-]*:/i.test(target)) return [];
  const [file = '', anchor] = target.split('#');
  const resolved = file === '' ? path : resolve(folderOf(path), file);
  if (resolved === null || !repository.exists(resolved)) return [`link to ${target}: no such file`];
  if (anchor === undefined || !resolved.endsWith('.md') || repository.anchors(resolved).has(anchor)) return [];
  return [`link to ${target}: no such heading`];
}

function checkScripts(text: string, repository: Repository): string[] {
  const names = [...text.matchAll(NPM_SCRIPT)].map(([, name = '']) => name);
  return names.filter((name) => !repository.scripts.has(name)).map((name) => `npm run ${name}: no such script`);
}

function checkPath(text: string, repository: Repository, document: string | null): string[] {
  const span = text.replace(/^\.\//, '').replace(/[:#].*$/, '');
  if (!PATH_LIKE.test(span)) return [];
  const isOurs = repository.topNames.has(span.split('/')[0] ?? '');
  const looksLikeFile = span.includes('/') && FILE_ENDING.test(span);
  if (!isOurs && !looksLikeFile) return [];
  if (isThere(span, repository)) return [];
  const beside = document === null ? null : resolve(folderOf(document), span);
  return beside !== null && isThere(beside, repository) ? [] : [`${span}: no such file or folder`];
}

/** A path with a placeholder (`<name>`, `{id}`) is looked at as far as the folder before it. */
function isThere(path: string, repository: Repository): boolean {
  const placeholder = path.search(/[<{]/);
  const known = placeholder === -1 ? path : path.slice(0, path.lastIndexOf('/', placeholder));
  return known.includes('*') ? repository.matches(known) : repository.exists(known.replace(/\/$/, ''));
}

function folderOf(path: string): string {
  return path.slice(0, Math.max(path.lastIndexOf('/'), 0));
}

/** Null for a path that leaves the repository. */
function resolve(folder: string, path: string): string | null {
  const parts: string[] = [];
  for (const part of [...folder.split('/'), ...path.split('/')]) {
    if (part === '..' && parts.pop() === undefined) return null;
    if (part !== '..' && part !== '.' && part !== '') parts.push(part);
  }
  return parts.join('/');
}
