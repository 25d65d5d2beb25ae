import { spawn } from 'node:child_process';
import { text } from 'node:stream/consumers';

export interface FinishedProcess {
  readonly status: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a script on this Node with some variables set, to its end. */
export async function runNode(
  args: readonly string[],
  env: { readonly [name: string]: string } = {},
  cwd = process.cwd(),
): Promise<FinishedProcess> {
  const child = spawn(process.execPath, args, {
    cwd,
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const status = new Promise<number | null>((resolve, reject) => child.once('error', reject).once('exit', resolve));
  const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)]);
  return { status: await status, stdout, stderr };
}
