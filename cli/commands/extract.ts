import { randomBytes } from 'node:crypto';
import { BatchName, type Document, type DocumentBatch } from '../../contracts/document.ts';
import { ProcessBatch } from '../../contracts/process-batch.ts';
import { CONNECTION_OPTIONS, type Context, defineCommand } from '../command.ts';
import { connectTenant } from '../connection.ts';
import { plainText, usageError } from '../errors.ts';
import { exitCode } from '../exit-codes.ts';
import { readColumnList } from '../extract/column-list.ts';
import { createExtractView, type ExtractView, SILENT_EXTRACT_VIEW } from '../extract/extract-view.ts';
import { INTERRUPTED, whenThereIsRoom } from '../extract/patience.ts';
import { keepsOtherRows, startRuns, waitForBatch } from '../extract/process-batch.ts';
import { openResultTarget, type ResultTarget, writeResults } from '../extract/result-form.ts';
import { type InputFile, requireFiles, type Uploads, uploadFiles } from '../extract/upload-files.ts';
import type { TenantCalls } from '../gateway.ts';
import { listenForInterrupts } from '../interrupts.ts';
import { oneOf } from '../option-values.ts';
import { plural, printJson } from '../output.ts';

const MODES = ProcessBatch.shape.mode.unwrap().options;
const PAGE = 1_000;

export const extractCommand = defineCommand({
  name: 'extract',
  summary: 'upload documents, have table rows made of them, and fetch these',
  arguments: ['FILE...'],
  options: {
    columns: {
      type: 'string',
      value: 'LIST',
      help: 'of the table: name[:type][!], parted by commas, ! for required; or @FILE with JSON. Else those of the last run of --batch',
    },
    out: { type: 'string', value: 'FILE', help: 'JSON, CSV or XLSX by its ending; - is standard output, in JSON' },
    batch: {
      type: 'string',
      value: 'NAME',
      help: 'the name of the batch (a new one); what is in it already is not sent again',
    },
    model: { type: 'string', value: 'MODEL', help: 'an alias, or provider/model' },
    mode: { type: 'string', value: 'MODE', help: `${MODES.join(' or ')}: at once, or as a batch job at its price` },
    'retry-failed': { type: 'boolean', help: 'process again what of the batch has failed, too' },
    ...CONNECTION_OPTIONS,
  },
  details:
    'Types of columns are text (unless said), number, currency, date and boolean. FILE is PDF, PNG, JPEG, WebP, CSV or TXT. The ' +
    'results are those of the whole batch.\n' +
    'What broke off goes on where it stopped with the same files and the --batch that was named: files are told by name and content.\n' +
    'Ends with 0 when every document has succeeded, else with 1; then standard error tells why, a line each. So it does where the ' +
    'batch holds documents that were processed before with other columns or another model: what has succeeded keeps its rows.',
  examples: [
    'extract ./invoices/*.pdf --columns "date:date,vendor!,total:currency" --out rows.xlsx',
    'extract scans/*.png --columns @columns.json --batch "Scans 2026/08" --mode batch --out rows.csv',
    'extract ./invoices/*.pdf --batch "Invoices 2026/08" --retry-failed --out rows.json',
  ],
  async run({ values, positionals }, context) {
    const { model, batch, mode, columns } = values;
    if (columns === undefined && batch === undefined)
      throw usageError('--columns is needed, such as "date:date,vendor!,total:currency".', '--columns');
    const wish: ProcessBatch = {
      ...(columns !== undefined && { columns: await readColumnList(columns, context) }),
      ...(model !== undefined && { model }),
      ...(mode !== undefined && { mode: oneOf('--mode', mode, MODES) }),
      ...(values['retry-failed'] === true && { include: 'failed' }),
    };
    const batchName = batch ?? newName(context.nowMs());
    if (!BatchName.safeParse(batchName).success)
      throw usageError('--batch must be at most 255 characters, none of them a control character.', '--batch');
    const files = await requireFiles(positionals);
    const calls = connectTenant(values, context);
    const target = await openResultTarget(values.out, context);
    const view = values.json ? SILENT_EXTRACT_VIEW : createExtractView(context);
    const interrupts = listenForInterrupts(context.signals);
    try {
      const work = { calls, batchName, signal: interrupts.signal };
      return await extract({ ...work, files, wish, target, view, asJson: values.json === true }, context);
    } catch (error) {
      view.clear();
      await target.sink.discard();
      if (!values.json)
        context.terminal.err.write(`The batch is "${plainText(batchName)}": --batch goes on with it.\n`);
      if (error !== INTERRUPTED) throw error;
      return exitCode('interrupted');
    } finally {
      interrupts.stopListening();
    }
  },
});

interface Work {
  readonly calls: TenantCalls;
  readonly batchName: string;
  readonly signal: AbortSignal;
  readonly files: readonly InputFile[];
  readonly wish: ProcessBatch;
  readonly target: ResultTarget;
  readonly view: ExtractView;
  readonly asJson: boolean;
}

async function extract(work: Work, context: Context): Promise<number> {
  const { files, wish, view, calls, batchName, target } = work;
  const uploading = { ...work, onProgress: (done: number) => view.uploads(done, files.length) };
  const uploads = await uploadFiles(files, uploading, context);
  if (uploads.uploaded + uploads.present === 0) {
    view.clear();
    await target.sink.discard();
    return report(work, { uploads, batch: null, unsuccessful: [], hasOtherRows: false }, context);
  }
  const before = await whenThereIsRoom(() => calls.getBatch(batchName), work.signal, context);
  const taken = await startRuns(work, wish, context);
  const batch = await waitForBatch(work, view.batch, context);
  const unsuccessful = await listUnsuccessful(work, batch, context);
  await writeResults(target, work, context);
  view.clear();
  return report(work, { uploads, batch, unsuccessful, hasOtherRows: keepsOtherRows(before, taken, wish) }, context);
}

/** Documents of the batch that have failed or were cancelled. */
async function listUnsuccessful(
  { calls, batchName, signal }: Work,
  { counts }: DocumentBatch,
  context: Context,
): Promise<Document[]> {
  const found: Document[] = [];
  const states = (['failed', 'canceled'] as const).filter((status) => counts[status] > 0);
  for (const status of states) {
    for (let cursor: string | undefined; ; ) {
      const query = { batch_name: batchName, status, limit: PAGE, cursor };
      const { data, next_cursor: next } = await whenThereIsRoom(() => calls.listDocuments(query), signal, context);
      found.push(...data);
      if (next === null) break;
      cursor = next;
    }
  }
  return found;
}

interface End {
  readonly uploads: Uploads;
  readonly batch: DocumentBatch | null;
  readonly unsuccessful: readonly Document[];
  /** Documents were left with what an earlier run with other columns, or another model, made of them. */
  readonly hasOtherRows: boolean;
}

function report(work: Work, { uploads, batch, unsuccessful, hasOtherRows }: End, context: Context): number {
  const { uploaded, present, refused } = uploads;
  const faults = [
    ...refused.map(({ path, code, message }) => ({ file: path, document_id: null, error: { code, message } })),
    ...unsuccessful.map(({ id, file_name: name, processing_error: error }) => ({
      ...{ file: name ?? id, document_id: id },
      error: error ?? { code: 'canceled', message: 'It was cancelled before it was processed.' },
    })),
  ];
  const { terminal } = context;
  const out = batch === null ? null : work.target.path;
  if (work.asJson) {
    const summary = {
      batch_name: work.batchName,
      batch,
      uploaded,
      present,
      failed: faults,
      has_other_rows: hasOtherRows,
      out,
    };
    // Results have standard output for themselves.
    if (out === '-') terminal.err.write(`${JSON.stringify(summary)}\n`);
    else printJson(context, summary);
  } else {
    for (const { file, document_id: id, error } of faults)
      terminal.err.write(`${plainText(`${file}${id === null ? '' : ` (${id})`}: ${error.code}: ${error.message}`)}\n`);
    if (hasOtherRows) terminal.err.write(`${plainText(otherRowsOf(work.batchName))}\n`);
    const succeeded = batch?.counts.succeeded ?? 0;
    const end = out === null || out === '-' ? '' : ` Results are in ${out}.`;
    const bad = faults.length === 0 ? '' : `, ${faults.length} did not`;
    const text = `${plural(succeeded, 'document')} of "${work.batchName}" succeeded${bad}.${end}`;
    (out === '-' ? terminal.err : terminal.out).write(`${plainText(text)}\n`);
  }
  return exitCode(faults.length === 0 && !hasOtherRows ? 'ok' : 'unsuccessful');
}

function otherRowsOf(batchName: string): string {
  return (
    `"${batchName}" holds documents that were processed before, with other columns or another model, and they keep the rows of ` +
    'then. Name another --batch to have all of these files processed as asked.'
  );
}

/** New at each start, and readable in a list of batches. */
function newName(nowMs: number): string {
  const at = new Date(nowMs).toISOString().slice(0, 16).replace('T', ' ');
  return `extract ${at} ${randomBytes(3).toString('hex')}`;
}
