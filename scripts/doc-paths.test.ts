import { expect, test } from 'vitest';
import { checkDocument, headingAnchors, type Repository } from './doc-paths.ts';

const FILES = ['README.md', 'docs/states.md', 'docs/money.md', 'domain/money.ts', 'domain', 'docs', 'package.json'];

const repository: Repository = {
  exists: (path) => FILES.includes(path),
  matches: (pattern) => pattern === 'docs/*.md',
  topNames: new Set(['README.md', 'docs', 'domain', 'package.json']),
  scripts: new Set(['check', 'test:unit']),
  anchors: () => new Set(['the-law']),
};

function messages(text: string, path = 'docs/states.md'): string[] {
  return checkDocument(path, text, repository).map(({ line, message }) => `${line}: ${message}`);
}

test.each([
  ['a path in a code span', 'see `domain/money.ts`'],
  ['a folder', 'the folder `domain/`'],
  ['a path beside the document', 'see `money.md`'],
  ['a line or heading after the path', 'see `domain/money.ts:12` and `docs/money.md#the-law`'],
  ['a pattern', 'all of `docs/*.md`'],
  ['a placeholder, up to its folder', 'a file `domain/<name>.ts`'],
  ['what is no path', '`/v1/batch-jobs`, `application/json`, `openai/gpt-4`, `batch-job/{job_id}`, `a.b`, `state`'],
  ['a relative link with a heading', '[law](money.md#the-law)'],
  ['a link to elsewhere', '[x](https://example.com/docs/none.md)'],
  ['a script', 'run `npm run check` and `npm run test:unit -- x`'],
  ['anything in a block that is no shell', '```ts\nimport "domain/none.ts";\n```'],
])('passes %s', (_, text) => {
  expect(messages(text)).toEqual([]);
});

test.each([
  ['a file that is gone', 'see\n`domain/none.ts`', '2: domain/none.ts: no such file or folder'],
  ['a folder that is gone', '`nowhere/file.ts`', '1: nowhere/file.ts: no such file or folder'],
  ['a pattern nothing matches', '`domain/*.md`', '1: domain/*.md: no such file or folder'],
  [
    'a placeholder in a folder that is gone',
    '`domain/none/<name>.ts`',
    '1: domain/none/<name>.ts: no such file or folder',
  ],
  ['a link', '[x](none.md)', '1: link to none.md: no such file'],
  ['a link out of the repository', '[x](../../none.md)', '1: link to ../../none.md: no such file'],
  ['a heading', '[x](money.md#none)', '1: link to money.md#none: no such heading'],
  ['a script', 'run `npm run none`', '1: npm run none: no such script'],
  ['a script in a shell block', '```sh\nnpm run none -- --x\n```', '2: npm run none: no such script'],
  ['a path in a shell block', '```sh\nnode domain/none.ts\n```', '2: domain/none.ts: no such file or folder'],
])('reports %s', (_, text, message) => {
  expect(messages(text)).toEqual([message]);
});

test('makes anchors of headings as GitHub does', () => {
  expect(headingAnchors('# The law\n\n## `reserve`, then settle!\ntext # not one\n')).toEqual(
    new Set(['the-law', 'reserve-then-settle']),
  );
});
