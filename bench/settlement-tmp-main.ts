import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { migrate } from '../db/migrations.ts';
import { choosePort } from '../local/ports.ts';
import { startPostgres } from '../local/postgres.ts';
import { measureSettlement } from './settlement-tmp.ts';
const dataDirectory = await mkdtemp(join(tmpdir(), 'batchgate-bench-'));
const postgres = await startPostgres({ dataDirectory, port: await choosePort(0), ephemeral: false, log: console.error });
try { await migrate(postgres.url); console.log(await measureSettlement(postgres.url)); } finally { await postgres.stop(); await rm(dataDirectory, { recursive: true, force: true }); }
