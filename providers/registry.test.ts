import { expect, test } from 'vitest';
import { createProviders } from './registry.ts';

const timeouts = { requestTimeoutMs: 1000, idleTimeoutMs: 1000 };
const signal = new AbortController().signal;

test('holds an adapter for each provider, under its own name', () => {
  const providers = createProviders({ ...timeouts, openai: { apiKey: 'sk-test', baseUrl: null } });
  expect([...providers].map(([name, { provider }]) => [name, provider])).toEqual([['openai', 'openai']]);
});

test('an adapter without a credential refuses every call before it is sent, and still reads and writes lines', async () => {
  const adapter = createProviders({ ...timeouts, openai: { apiKey: null, baseUrl: null } }).get('openai');
  if (adapter === undefined) throw new Error('openai has an adapter');
  const refusal = { code: 'credential_refused', mayHaveActed: false };
  await expect(adapter.uploadInput({ path: '/dev/null', fileName: 'a.jsonl', signal })).rejects.toMatchObject(refusal);
  await expect(adapter.retrieveBatch({ providerBatchId: 'batch_1', signal })).rejects.toMatchObject(refusal);
  const download = adapter.downloadFile({ file: { kind: 'output', fileId: 'file_1' }, signal });
  await expect(Array.fromAsync(download)).rejects.toMatchObject(refusal);
  const item = { providerItemId: 'a-1', endpoint: 'embeddings', model: 'm', request: { input: 'x' } } as const;
  expect(JSON.parse(adapter.encodeItem(item))).toMatchObject({ custom_id: 'a-1' });
});
