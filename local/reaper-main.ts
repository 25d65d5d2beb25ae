import { rmSync } from 'node:fs';
import { z } from 'zod';
import { endProcess, identify, type ProcessIdentity } from './running-process.ts';

/**
 * The process that outlives a stack killed with SIGKILL: it is told what the stack started, sleeps, and when the
 * channel to its parent closes it ends whatever is still running, newest first.
 */
const orderSchema = z.discriminatedUnion('do', [
  z.object({ do: z.literal('watch'), pid: z.number().int().positive(), signal: z.enum(['SIGINT', 'SIGTERM']) }),
  z.object({ do: z.literal('forget'), pid: z.number().int().positive() }),
  z.object({ do: z.literal('remove'), directory: z.string().min(1) }),
  z.object({ do: z.literal('keep'), directory: z.string().min(1) }),
]);
export type ReaperOrder = z.infer<typeof orderSchema>;

interface Watched {
  signal: 'SIGINT' | 'SIGTERM';
  /** Read when the order arrives: by the time the parent dies the number may belong to someone else. */
  identity: Promise<ProcessIdentity | undefined>;
}

const GRACE_MS = 30_000;
const watched = new Map<number, Watched>();
const directories = new Set<string>();

function obey(order: ReaperOrder): void {
  if (order.do === 'watch') watched.set(order.pid, { signal: order.signal, identity: identify(order.pid) });
  else if (order.do === 'forget') watched.delete(order.pid);
  else if (order.do === 'remove') directories.add(order.directory);
  else directories.delete(order.directory);
}

async function reap(): Promise<void> {
  for (const { signal, identity } of [...watched.values()].reverse()) {
    const known = await identity;
    const running = known === undefined ? undefined : await identify(known.pid);
    if (known === undefined || running?.startedAt !== known.startedAt) continue;
    await endProcess(known, [{ signal, waitMs: GRACE_MS }]).catch(() => undefined);
  }
  for (const directory of directories) rmSync(directory, { recursive: true, force: true });
}

process.on('message', (message) => obey(orderSchema.parse(message)));
process.on('disconnect', () => {
  reap().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
