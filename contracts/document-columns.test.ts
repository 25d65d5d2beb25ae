import { expect, test } from 'vitest';
import { DocumentColumnsInput, MAX_DOCUMENT_COLUMNS, readDocumentColumns } from './document-columns.ts';

function problemsOf(columns: unknown): string[] {
  const parsed = DocumentColumnsInput.safeParse(columns);
  return parsed.success ? [] : parsed.error.issues.map(({ path, message }) => `${path.join('.')}: ${message}`);
}

test('fills in what was left out, and keeps names as they are', () => {
  const given = DocumentColumnsInput.parse([
    { name: 'Größe (m²)' },
    { name: 'total', type: 'currency', required: true, description: 'With tax' },
    { name: 'note', description: null },
  ]);
  expect(readDocumentColumns(given)).toEqual([
    { name: 'Größe (m²)', description: null, type: 'text', required: false },
    { name: 'total', description: 'With tax', type: 'currency', required: true },
    { name: 'note', description: null, type: 'text', required: false },
  ]);
});

test.for([
  { columns: [], problem: /^: / },
  { columns: 'total', problem: /^: / },
  { columns: [{}], problem: /^0\.name: / },
  { columns: [{ name: '  ' }], problem: /^0\.name: / },
  { columns: [{ name: 'a\nb' }], problem: /^0\.name: must be well-formed/ },
  { columns: [{ name: '\ud800' }], problem: /^0\.name: must be well-formed/ },
  { columns: [{ name: ' total' }], problem: /^0\.name: must not begin or end with white space/ },
  { columns: [{ name: 'x'.repeat(101) }], problem: /^0\.name: / },
  { columns: [{ name: '__proto__' }], problem: /^0\.name: must not be __proto__/ },
  { columns: [{ name: 'Constructor' }], problem: /^0\.name: must not be __proto__, constructor/ },
  { columns: [{ name: 'a', type: 'money' }], problem: /^0\.type: / },
  { columns: [{ name: 'a', required: 'yes' }], problem: /^0\.required: / },
  { columns: [{ name: 'a', description: 'x'.repeat(501) }], problem: /^0\.description: / },
  { columns: [{ name: 'a', unit: 'kg' }], problem: /^0: / },
  { columns: [{ name: 'Total' }, { name: 'b' }, { name: 'tOTAL' }], problem: /^2: must not repeat the one at \[0\]/ },
  { columns: [{ name: 'ﬁt' }, { name: 'fit' }], problem: /^1: must not repeat/ },
])('refuses $columns', ({ columns, problem }) => {
  const problems = problemsOf(columns);
  expect(problems).toHaveLength(1);
  expect(problems[0]).toMatch(problem);
});

test('refuses a name that is empty', () => {
  expect(problemsOf([{ name: '' }])).not.toEqual([]);
});

test('takes as many columns as there may be, and no more', () => {
  const columns = Array.from({ length: MAX_DOCUMENT_COLUMNS + 1 }, (_, index) => ({ name: `c${index}` }));
  expect(problemsOf(columns.slice(1))).toEqual([]);
  expect(problemsOf(columns)).toHaveLength(1);
});
