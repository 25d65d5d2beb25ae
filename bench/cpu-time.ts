import { readdir, readFile } from 'node:fs/promises';

/** The kernel counts in hundredths of a second. */
const TICK_MS = 10;

/** What processes have used of the processors so far, each with its living children and those it has waited for, in ms. Linux only. */
export async function readCpuTimes<Name extends string>(
  pids: Record<Name, number | undefined>,
): Promise<Record<Name, number>> {
  const all = await listProcesses();
  const times = Object.entries<number | undefined>(pids).map(([name, pid]) => {
    const ownAndChildren = all.filter((each) => each.pid === pid || each.parent === pid);
    return [name, ownAndChildren.reduce((sum, { ticks }) => sum + ticks * TICK_MS, 0)];
  });
  return Object.fromEntries(times) as Record<Name, number>;
}

interface ProcessTime {
  readonly pid: number;
  readonly parent: number;
  readonly ticks: number;
}

async function listProcesses(): Promise<ProcessTime[]> {
  const pids = (await readdir('/proc').catch(() => [])).filter((name) => /^\d+$/.test(name));
  const stats = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/stat`, 'utf8').catch(() => null)));
  return stats.filter((stat) => stat !== null).map(parseStat);
}

/** Of proc(5): after the name in brackets come state, ppid, …; utime, stime, cutime and cstime are the 14th to 17th field. */
function parseStat(stat: string): ProcessTime {
  const rest = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
  const ticks = rest.slice(11, 15).reduce((sum, field) => sum + Number(field), 0);
  return { pid: Number.parseInt(stat, 10), parent: Number(rest[1]), ticks };
}
