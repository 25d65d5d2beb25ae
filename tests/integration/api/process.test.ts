import { type ChildProcess, spawn } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, expect, test } from 'vitest';
import { createKey } from '../../../db/api-keys.ts';
import { chatItem } from '../../harness/api.ts';
import { insertTenant } from '../../harness/jobs.ts';
import { createTestDatabase } from '../../harness/postgres.ts';
import { runNode } from '../../harness/run-node.ts';

const { db, url, drop } = await createTestDatabase();
afterAll(drop);

interface LogLine {
  readonly msg?: string;
  readonly port?: number;
  readonly status?: number;
}

interface RunningApi {
  readonly base: string;
  readonly log: LogLine[];
  /** The exit code after a signal. */
  end(signal: NodeJS.Signals): Promise<number | null>;
}

async function startApi(): Promise<RunningApi> {
  const env = {
    ...process.env,
    DATABASE_URL: url,
    BATCHGATE_PORT: '0',
    BATCHGATE_SPOOL_DIR: join(tmpdir(), 'batchgate-process-test'),
    TEMPORAL_ADDRESS: '127.0.0.1:1',
  };
  const child: ChildProcess = spawn(process.execPath, ['api/main.ts'], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const exited = new Promise<number | null>((resolve) => child.once('exit', resolve));
  const log: LogLine[] = [];
  const port = await new Promise<number>((resolve, reject) => {
    void exited.then(() => reject(new Error('the api ended before it listened')));
    if (child.stdout === null) return reject(new Error('no output'));
    createInterface({ input: child.stdout }).on('line', (line) => {
      const entry: LogLine = JSON.parse(line);
      log.push(entry);
      if (entry.msg === 'listening' && entry.port !== undefined) resolve(entry.port);
    });
  });
  return {
    base: `http://127.0.0.1:${port}`,
    log,
    end: (signal) => {
      child.kill(signal);
      return exited;
    },
  };
}

test('the process serves without Temporal, logs no ids of callers, and ends cleanly when told to', async () => {
  const { tenantId } = await insertTenant(db);
  const { key } = await createKey(db.pool, { role: 'tenant_admin', name: 'test', tenantId });
  const api = await startApi();
  const call = async (method: string, path: string, json?: unknown) => {
    const response = await fetch(`${api.base}${path}`, {
      method,
      headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json' },
      ...(json !== undefined && { body: JSON.stringify(json) }),
    });
    return { status: response.status, json: JSON.parse(await response.text()) };
  };
  expect(await call('GET', '/readyz')).toMatchObject({ status: 503, json: { dependencies: { postgres: 'ok' } } });
  const job = { endpoint: 'chat.completions', model: 'openai/gpt-4o-mini' };
  const { job_id: jobId } = (await call('POST', '/v1/batch-jobs', job)).json;
  await call('POST', `/v1/batch-jobs/${jobId}/items`, { items: [chatItem('patient_007')] });
  expect(await call('GET', `/v1/batch-jobs/${jobId}/items/patient_007`)).toMatchObject({ status: 200 });
  const submitted = await call('POST', `/v1/batch-jobs/${jobId}/submit`);
  expect(submitted).toMatchObject({ status: 503, json: { error: 'dependency_unavailable' } });
  expect(await api.end('SIGTERM')).toBe(0);
  expect(api.log.filter(({ msg }) => msg === 'request').map(({ status }) => status)).toEqual([503, 201, 200, 200, 503]);
  expect(JSON.stringify(api.log)).not.toContain('patient_007');
  expect(JSON.stringify(api.log)).not.toContain(key);
});

test('a process without a database URL says what is missing and ends', async () => {
  const { status, stderr } = await runNode(['api/main.ts'], { DATABASE_URL: '' });
  expect(status).not.toBe(0);
  expect(stderr).toContain('DATABASE_URL');
});
