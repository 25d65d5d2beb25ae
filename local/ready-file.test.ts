import { mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { findRunningStack, leaveReadyFile } from './ready-file.ts';
import type { StackReady } from './stack-options.ts';

let directory: string;
beforeEach(() => {
  directory = mkdtempSync(join(tmpdir(), 'batchgate-ready-'));
});
afterEach(() => rmSync(directory, { recursive: true }));

const READY: StackReady = {
  ready: true,
  api_url: 'http://127.0.0.1:8080',
  admin_key: 'admin',
  operator_key: 'operator',
  tenant_key: 'tenant',
  temporal_address: '127.0.0.1:7233',
  temporal_ui_url: null,
  temporal_namespace: 'default',
  database_url: 'postgres://localhost/batchgate',
  simulators: { openai_url: null, anthropic_url: null, gemini_url: null, control_url: null },
};

test('a stack is found from when it is ready until it takes the file away', () => {
  const remove = leaveReadyFile(directory, READY);
  expect(findRunningStack(directory)).toEqual(READY);
  expect(statSync(join(directory, 'ready.json')).mode & 0o777).toBe(0o600);
  remove();
  expect(findRunningStack(directory)).toBeUndefined();
  remove();
});

test.each(['', '{"ready":true', '{"ready":true}'])('a file that holds %j is as none', (text) => {
  writeFileSync(join(directory, 'ready.json'), text);
  expect(findRunningStack(directory)).toBeUndefined();
});
