import { extname } from 'node:path';
import type { Context } from '../command.ts';
import { usageError } from '../errors.ts';
import type { TenantCalls } from '../gateway.ts';
import { openResultSink, type ResultSink } from '../results/result-file.ts';
import { INTERRUPTED, whenThereIsRoom } from './patience.ts';

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

interface Fetching {
  readonly calls: Pick<TenantCalls, 'streamBatchResults'>;
  readonly batchName: string;
  readonly signal: AbortSignal;
}

/** Fetches the results of a batch whole, or leaves no file. Throws what the gateway refuses, and INTERRUPTED. */
export async function writeResults(
  { type, sink }: ResultTarget,
  { calls, batchName, signal }: Fetching,
  context: Pick<Context, 'sleep'>,
): Promise<void> {
  const text = sink.isStandardOutput ? new TextDecoder() : null;
  const open = async () => {
    const chunks = calls.streamBatchResults(batchName, type);
    return { chunks, first: await chunks.next() };
  };
  const { chunks, first } = await whenThereIsRoom(open, signal, context);
  for (let next = first; next.done !== true; next = await chunks.next()) {
    if (signal.aborted) {
      await chunks.return(undefined);
      throw INTERRUPTED;
    }
    await sink.write(text === null ? next.value : text.decode(next.value, { stream: true }));
  }
  if (text !== null) await sink.write(`${text.decode()}\n`);
  await sink.finish();
}
