import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { type FakeDocuments, startFakeDocuments, XLSX } from '../testing/fake-documents.ts';
import { type CliOptions, FakeSignals, runCli } from '../testing/run-cli.ts';

let gateway: FakeDocuments;
let folder: string;
beforeEach(async () => {
  gateway = await startFakeDocuments();
  folder = mkdtempSync(join(tmpdir(), 'batchgate-extract-'));
});
afterEach(async () => {
  await gateway.close();
  rmSync(folder, { recursive: true });
});

const COLUMNS = 'date:date, vendor!,total : currency!';

/** Files of these contents, a.txt and on. */
function files(...contents: string[]): string[] {
  return contents.map((content, index) => {
    const path = join(folder, `${String.fromCharCode(97 + index)}.txt`);
    writeFileSync(path, content);
    return path;
  });
}

const out = (name = 'out.csv') => join(folder, name);

function extract(args: readonly string[], options: CliOptions = {}) {
  return runCli(['extract', ...args, '--url', gateway.url, '--key', 'k'], options);
}

test('uploads the files, has them processed, waits and writes the results', async () => {
  const { code, ...said } = await extract([
    ...files('one', 'two', 'three'),
    ...['--columns', COLUMNS, '--model', 'openai/m', '--mode', 'batch', '--batch', 'Größe / 1', '--out', out()],
  ]);
  expect({ code, out: said.out }).toEqual({
    code: 0,
    out: `3 documents of "Größe / 1" succeeded. Results are in ${out()}.\n`,
  });
  expect(gateway.documents.map((document) => [document.batch_name, document.file_name]).toSorted()).toEqual(
    ['a', 'b', 'c'].map((name) => ['Größe / 1', `${name}.txt`]),
  );
  expect(gateway.processed).toEqual([
    {
      columns: [
        { name: 'date', type: 'date' },
        { name: 'vendor', required: true },
        { name: 'total', type: 'currency', required: true },
      ],
      ...{ model: 'openai/m', mode: 'batch' },
    },
  ]);
  expect(readFileSync(out(), 'utf8').split('\r\n').toSorted()).toEqual(['a.txt', 'b.txt', 'c.txt']);
  expect(said.err).toContain('3 of 3 files uploaded');
  expect(said.err).toContain('queued: 0 of 3 documents done, 0 in work');
  expect(said.err).toContain('succeeded: 3 of 3 documents done');
});

test('the ending of the file tells the form, and standard output gets JSON', async () => {
  const args = [...files('one'), '--columns', 'a'];
  await extract([...args, '--out', out('rows.XLSX')]);
  expect(new Uint8Array(readFileSync(out('rows.XLSX')))).toEqual(XLSX);
  await extract([...args, '--out', out('rows.json')]);
  expect(JSON.parse(readFileSync(out('rows.json'), 'utf8'))).toEqual({ documents: ['a.txt'] });
  const said = await extract([...args, '--out', '-', '--json']);
  expect(JSON.parse(said.out)).toEqual({ documents: ['a.txt'] });
  expect(JSON.parse(said.err)).toMatchObject({ uploaded: 1, failed: [], out: '-', batch: { all_done: true } });
});

test('a document that fails and a file that is refused are told, and end with 1', async () => {
  gateway.endOf = ({ file_name: name }) =>
    name === 'a.txt'
      ? { status: 'succeeded' }
      : { status: 'failed', processing_error: { code: 'expired', message: 'Too late.' } };
  const args = [...files('one', 'empty', 'three'), '--columns', 'a', '--batch', 'b', '--out', out()];
  const { code, ...said } = await extract(args);
  expect(code).toBe(1);
  expect(said.err).toContain(`${join(folder, 'b.txt')}: document_empty: It is empty.\n`);
  expect(said.err).toMatch(/c\.txt \(doc_\d\): expired: Too late\.\n/);
  expect(said.out).toBe(`1 document of "b" succeeded, 2 did not. Results are in ${out()}.\n`);
  expect(readFileSync(out(), 'utf8')).toContain('a.txt');
  const json = JSON.parse((await extract([...args, '--json'])).out);
  expect(json).toMatchObject({ batch_name: 'b', uploaded: 0, present: 2, out: out() });
  expect(json.failed).toMatchObject([
    { document_id: null, error: { code: 'document_empty' } },
    { file: 'c.txt', document_id: expect.any(String), error: { code: 'expired' } },
  ]);
});

test('a file whose name the gateway does not take is told, and the others are processed', async () => {
  gateway.refusals.push({ call: 'POST /v1/documents', status: 400, error: 'invalid_request', field: 'file.filename' });
  const { code, err } = await extract([...files('one', 'two'), '--columns', 'a', '--batch', 'b', '--out', out()]);
  expect([code, gateway.documents.length]).toEqual([1, 1]);
  expect(err).toMatch(/\.txt: invalid_request: refused\n/);
});

test('where every file is refused nothing is processed, and no file is left', async () => {
  const { code, ...said } = await extract([...files('empty'), '--columns', 'a', '--out', out()]);
  expect([code, gateway.processed]).toEqual([1, []]);
  expect(said.out).toMatch(/^0 documents of "extract 2026-08-19 10:10 [0-9a-f]{6}" succeeded, 1 did not\.\n$/);
  expect(readdirSync(folder)).toEqual(['a.txt']);
});

test('goes on with a batch: only what is not in it is sent, by name and content', async () => {
  const args = ['--columns', 'a', '--batch', 'b', '--out', out()];
  await extract([...files('one', 'two', 'two'), ...args]);
  const paths = files('one', 'changed', 'two', 'new');
  const { code, out: told } = await extract([...paths, ...args, '--json']);
  expect([code, JSON.parse(told)]).toMatchObject([0, { uploaded: 2, present: 2 }]);
  expect(
    gateway.documents
      .map((document) => document.file_name)
      .slice(3)
      .toSorted(),
  ).toEqual(['b.txt', 'd.txt']);
  expect(gateway.processed).toHaveLength(2);
});

test.each([
  [['--columns', 'b'], 'another column'],
  [['--columns', 'a:number'], 'another type'],
  [['--columns', 'a', '--model', 'other/m'], 'another model'],
])('with %j, %s, on a batch that was processed before, tells that its rows are the old ones', async (asked) => {
  const args = ['--batch', 'b', '--out', out()];
  expect((await extract([...files('one'), '--columns', 'a', ...args])).code).toBe(0);
  expect((await extract([...files('one'), '--columns', 'a', ...args])).code).toBe(0);
  const { code, err } = await extract([...files('one', 'two'), ...asked, ...args]);
  expect([code, err]).toEqual([1, expect.stringContaining('"b" holds documents that were processed before')]);
  const json = JSON.parse((await extract([...files('one'), '--columns', 'c', ...args, '--json'])).out);
  expect(json).toMatchObject({ failed: [], has_other_rows: true });
});

test('a name with a quote is told from none other when the batch is gone on with', async () => {
  const path = join(folder, 'a "b" %22.txt');
  writeFileSync(path, 'one');
  const args = [path, '--columns', 'a', '--batch', 'b', '--out', out(), '--json'];
  await extract(args);
  expect(JSON.parse((await extract(args)).out)).toMatchObject({ uploaded: 0, present: 1 });
});

test('--retry-failed processes what has failed, with the columns that the batch has', async () => {
  gateway.endOf = () => ({ status: 'failed', processing_error: { code: 'expired', message: 'Too late.' } });
  const paths = files('one');
  expect((await extract([...paths, '--columns', 'a', '--batch', 'b', '--out', out()])).code).toBe(1);
  gateway.endOf = () => ({ status: 'succeeded', processing_error: null });
  expect((await extract([...paths, '--batch', 'b', '--retry-failed', '--out', out()])).code).toBe(0);
  expect(gateway.processed).toEqual([{ columns: [{ name: 'a' }] }, { include: 'failed' }]);
});

test('what is too much at once is asked again after the time the gateway says', async () => {
  const tooMuch = { status: 429, retryAfter: 30 };
  for (const call of ['POST /v1/documents', 'GET /v1/batch', 'GET /v1/batch/results'])
    for (let times = 0; times < 5; times += 1) gateway.refusals.push({ call, ...tooMuch, error: 'rate_limited' });
  const { code } = await extract([...files('one'), '--columns', 'a', '--out', out()]);
  expect([code, gateway.refusals, gateway.documents.length]).toEqual([0, [], 1]);
});

test('another refusal ends it, names the batch, and leaves no file', async () => {
  gateway.refusals.push({ call: 'POST /v1/batch/process', status: 402, error: 'budget_exceeded' });
  const { code, err } = await extract([...files('one'), '--columns', 'a', '--batch', 'b', '--out', out()]);
  expect(code).toBe(3);
  expect(err).toContain('The batch is "b": --batch goes on with it.');
  expect(err).toContain('budget_exceeded: refused');
  expect(readdirSync(folder)).toEqual(['a.txt']);
});

test('Ctrl-C leaves, and the run goes on', async () => {
  const signals = new FakeSignals();
  gateway.looks = Number.POSITIVE_INFINITY;
  const { code, err } = await extract([...files('one'), '--columns', 'a', '--batch', 'b', '--out', out()], {
    signals,
    onPause: () => void signals.emit('SIGINT'),
  });
  expect([code, gateway.processed.length, readdirSync(folder)]).toEqual([130, 1, ['a.txt']]);
  expect(err).toContain('The batch is "b": --batch goes on with it.');
});

test('columns come from a file as the gateway takes them', async () => {
  const path = join(folder, 'columns.json');
  const columns = [{ name: 'a,b:c', description: 'with everything', required: true }];
  for (const content of [columns, { columns }]) {
    writeFileSync(path, JSON.stringify(content));
    await extract([...files('one'), '--columns', `@${path}`, '--out', out()]);
  }
  expect(gateway.processed).toEqual([{ columns }, { columns }]);
});

test.each([
  [['--out', 'x.csv'], '--columns is needed'],
  [['--columns', 'a'], '--out is needed'],
  [['--columns', 'a', '--out', 'x.txt'], '.json, .csv or .xlsx'],
  [['--columns', 'a:curency', '--out', 'x.csv'], 'Did you mean currency?'],
  [['--columns', 'a,,b', '--out', 'x.csv'], 'column 2, name'],
  [['--columns', 'a,A', '--out', 'x.csv'], 'column 2'],
  [['--columns', '@none.json', '--out', 'x.csv'], 'none.json: there is no such file'],
  [['--columns', 'a', '--out', 'x.csv', '--mode', 'dirct'], 'Did you mean direct?'],
  [['--columns', 'a', '--out', 'x.csv', '--batch', 'a\nb'], '--batch must be'],
  [['no-such.pdf', '--columns', 'a', '--out', 'x.csv'], 'no-such.pdf: there is no such file'],
  [['.', '--columns', 'a', '--out', 'x.csv'], 'is not a file'],
])('%j is refused before anything is sent', async (args, message) => {
  const { code, err } = await extract([...files('one'), ...args]);
  expect(err).toContain(message);
  expect([code, gateway.calls]).toEqual([2, []]);
});
