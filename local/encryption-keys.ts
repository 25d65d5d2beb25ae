import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StackStart } from './stack-servers.ts';

const KEY_BYTES = 32;

/**
 * What a local gateway seals stored secrets with: the caller's own keys, else one made on the first run and kept beside the
 * data, readable by its owner alone. Another key would leave sealed what an earlier run stored.
 */
export function encryptionKeys({
  environment,
  dataDirectory,
}: Pick<StackStart, 'environment' | 'dataDirectory'>): string {
  return environment['BATCHGATE_ENCRYPTION_KEYS'] || keptKey(join(dataDirectory, 'encryption-keys'));
}

function keptKey(file: string): string {
  try {
    writeFileSync(file, `local:${randomBytes(KEY_BYTES).toString('base64')}`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
  }
  return readFileSync(file, 'utf8');
}
