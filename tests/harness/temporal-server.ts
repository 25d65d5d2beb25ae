import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { choosePort } from '../../local/ports.ts';
import { startReaper } from '../../local/reaper.ts';
import { startTemporal } from '../../local/temporal.ts';
import { findTemporal } from '../../local/temporal-binary.ts';
import { defaultCacheDirectory } from '../../local/temporal-search.ts';
import { SEARCH_ATTRIBUTE_NAMES } from '../../worker/temporal-setup.ts';
import { bundleWorkflows } from '../../worker/workflow-bundle.ts';
import type { TestServer } from './test-server.ts';

declare module 'vitest' {
  export interface ProvidedContext {
    /** `host:port` of a Temporal dev server that all test files share; each makes workflow ids of its own. */
    temporalAddress: string;
    /** File with the workflow bundle of this tree. */
    workflowBundle: string;
  }
}

/** A throw-away Temporal dev server and the workflow bundle, once for a run. */
export async function startTestTemporal(): Promise<TestServer> {
  const reaper = startReaper(process.env);
  const dataDirectory = await mkdtemp(join(tmpdir(), 'batchgate-temporal-'));
  await mkdir(join(dataDirectory, 'logs'), { recursive: true });
  reaper.removeOnDeath(dataDirectory);
  const cleanUp = async (): Promise<void> => {
    await rm(dataDirectory, { recursive: true, force: true });
    reaper.keep(dataDirectory);
    await reaper.stop();
  };
  const log: string[] = [];
  try {
    const found = await findTemporal({
      environment: { PATH: process.env['PATH'] },
      cacheDirectory: defaultCacheDirectory(process.env, homedir()),
      onProgress: (line) => log.push(line),
    });
    if (found.kind !== 'executable') throw new Error('no TEMPORAL_ADDRESS was given, so an executable was looked for');
    const [port, uiPort] = [await choosePort(0), await choosePort(0)];
    const searchAttributes = Object.fromEntries(SEARCH_ATTRIBUTE_NAMES.map((name) => [name, 'Keyword']));
    const starting = { executable: found.path, dataDirectory, ephemeral: true, port, uiPort, searchAttributes };
    const server = await startTemporal({ ...starting, reaper, log: (line) => log.push(line) });
    const workflowBundle = join(dataDirectory, 'workflows.js');
    await writeBundle(workflowBundle).catch(async (error: unknown) => {
      await server.stop();
      throw error;
    });
    return {
      provides: { temporalAddress: server.address, workflowBundle },
      stop: () => server.stop().finally(cleanUp),
    };
  } catch (error) {
    await cleanUp();
    throw error;
  }
}

async function writeBundle(path: string): Promise<void> {
  await writeFile(path, (await bundleWorkflows()).code);
}
