import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { readProvidersFile } from './providers-file.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'batchgate-providers-'));
});
afterEach(() => rmSync(folder, { recursive: true }));

const MODEL = { model: 'm', currency: 'USD', batch: { input: '0.1', output: '0.2' } };
const PROVIDER = {
  name: 'groq',
  base_url: 'https://api.example/v1',
  api_key_variable: 'GROQ_API_KEY',
  endpoints: ['chat.completions'],
  models: [MODEL],
};

function read(content: unknown) {
  const path = join(folder, 'providers.json');
  writeFileSync(path, typeof content === 'string' ? content : JSON.stringify(content));
  return readProvidersFile(path);
}

test('reads a provider and fills in what is usual', () => {
  expect(read({ providers: [PROVIDER] })).toMatchObject([
    { name: 'groq', auth: 'bearer', line_path_prefix: '/v1', region: 'global', limits: {}, lifetime: {}, refuses: [] },
  ]);
});

test.each([
  ['{', 'is not a readable JSON file'],
  [{ providers: [{ ...PROVIDER, name: 'openai' }] }, 'providers.0.name is the name of a built-in provider'],
  [{ providers: [{ ...PROVIDER, name: 'Groq!' }] }, 'providers.0.name must be 1 to 32 lower-case letters'],
  [{ providers: [PROVIDER, PROVIDER] }, 'providers.1.name "groq" is there twice'],
  [{ providers: [{ ...PROVIDER, api_key: 'gsk-secret' }] }, 'Unrecognized key: "api_key"'],
  [{ providers: [{ ...PROVIDER, base_url: 'ftp://x' }] }, 'providers.0.base_url'],
  [{ providers: [{ ...PROVIDER, endpoints: ['messages'] }] }, 'providers.0.endpoints.0'],
  [
    { providers: [{ ...PROVIDER, models: [{ ...MODEL, batch: { input: 0.1, output: '0.2' } }] }] },
    'providers.0.models.0.batch.input',
  ],
  [
    { providers: [{ ...PROVIDER, models: [{ ...MODEL, batch: { input: '0.1234567', output: '1' } }] }] },
    'six decimals',
  ],
])('names the field that is at fault: %j', (content, message) => {
  expect(() => read(content)).toThrow(message);
});

test('a file that is not there is named', () => {
  expect(() => readProvidersFile(join(folder, 'none.json'))).toThrow('none.json is not a readable JSON file');
});

test('never shows a secret that stands where it should not', () => {
  expect(() => read({ providers: [{ ...PROVIDER, api_key_variable: 'gsk-secret' }] })).toThrow(
    expect.not.objectContaining({ message: expect.stringContaining('gsk-secret') }),
  );
});
