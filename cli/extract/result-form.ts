import { extname } from 'node:path';
import type { Context } from '../command.ts';
import { usageError } from '../errors.ts';
import type { TenantCalls } from '../gateway.ts';
import { openResultSink, type ResultSink } from '../results/result-file.ts';

const TYPE_OF: { readonly [ending: string]: string } = {
  '.json': 'application/json',
  '.csv': 'text/csv',
  '.xlsx': 'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet',
};

/** Where the results of a batch go, and in which form. */
export interface ResultTarget {
  readonly path: string;
  readonly type: string;
  readonly sink: ResultSink;
}

/** The form is told by the ending of the name; standard output (`-`) gets JSON. Throws a usage error for any other. */
export async function openResultTarget(
  path: string | undefined,
  { terminal }: Pick<Context, 'terminal'>,
): Promise<ResultTarget> {
  if (path === undefined) throw usageError('--out is needed: a file that ends in .json, .csv or .xlsx.', '--out');
  const type = path === '-' ? TYPE_OF['.json'] : TYPE_OF[extname(path).toLowerCase()];
  if (type === undefined)
    throw usageError(`--out tells the form by its ending: .json, .csv or .xlsx, not "${path}".`, '--out');
  return { path, type, sink: await openResultSink(path, terminal.out) };
}

/** Fetches the results of a batch whole, or leaves no file. */
export async function writeResults(
  { type, sink }: ResultTarget,
  calls: Pick<TenantCalls, 'streamBatchResults'>,
  batchName: string,
): Promise<void> {
  const text = sink.isStandardOutput ? new TextDecoder() : null;
  for await (const chunk of calls.streamBatchResults(batchName, type))
    await sink.write(text === null ? chunk : text.decode(chunk, { stream: true }));
  if (text !== null) await sink.write(`${text.decode()}\n`);
  await sink.finish();
}
