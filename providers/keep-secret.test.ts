import { expect, test } from 'vitest';
import { keepSecret } from './keep-secret.ts';
import type { BatchProvider } from './provider.ts';
import { ProviderError } from './provider-error.ts';
import { createAdapterMakers } from './registry.ts';

const KEY = 'a.key/of-no+known=shape';
const signal = new AbortController().signal;
const NONE = { apiKey: null, baseUrl: null };
const [maker] = createAdapterMakers({
  ...{ openai: NONE, anthropic: { ...NONE, apiVersion: '2026-10-21' }, gemini: NONE },
  ...{ requestTimeoutMs: 1_000, idleTimeoutMs: 1_000 },
});
if (maker === undefined) throw new Error('unreachable');
const bare = maker.makeRefusing();

const telling = (message: string, cause?: Error) =>
  new ProviderError({
    code: 'credential_refused',
    status: 401,
    message,
    cause,
    isRetryable: false,
    mayHaveActed: false,
  });

const COMPLETE = { endpoint: 'responses', model: 'm', request: {}, defaultMaxOutputTokens: 1, signal } as const;

async function caught(call: Promise<unknown>): Promise<ProviderError> {
  const error: unknown = await call.then(
    () => null,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ProviderError)) throw new Error('no provider error');
  return error;
}

test.each([
  ['in the message', telling(`wrong key ${KEY}, ${KEY}`), 'wrong key [key], [key]'],
  ['in the cause', telling('wrong key', new Error(`headers: ${KEY}`)), 'wrong key'],
  ['in the cause of the cause', telling('wrong key', new Error('x', { cause: new Error(KEY) })), 'wrong key'],
])('an error that quotes the key %s is told without it', async (_, error, message) => {
  const fail = async (): Promise<never> => {
    throw error;
  };
  const adapter: BatchProvider = {
    ...bare,
    ...{
      uploadInput: fail,
      createBatch: fail,
      findBatches: fail,
      listLabelled: fail,
      retrieveBatch: fail,
      cancelBatch: fail,
      complete: fail,
    },
    async *downloadFile() {
      yield Buffer.from('a');
      throw error;
    },
  };
  const kept = keepSecret(adapter, KEY);
  const since = { createdAfter: new Date(), signal };
  const file = { kind: 'output', fileId: 'f' } as const;
  const errors = await Promise.all([
    caught(kept.uploadInput({ path: '/dev/null', fileName: 'a', signal })),
    caught(kept.retrieveBatch({ providerBatchId: 'b', signal })),
    caught(kept.cancelBatch({ providerBatchId: 'b', signal })),
    caught(kept.findBatches({ attemptToken: 't', inputFileId: null, itemCount: 1, ...since })),
    caught(kept.listLabelled?.(since) ?? Promise.resolve()),
    caught(kept.complete(COMPLETE)),
    caught(Array.fromAsync(kept.downloadFile({ file, signal }))),
  ]);
  for (const told of errors) {
    expect(told).toMatchObject({ code: 'credential_refused', status: 401, message, mayHaveActed: false });
    expect(told.cause).toBeUndefined();
    expect(told.stack).not.toContain(KEY);
  }
});

test('a refusal of a request that quotes the key is told without it', async () => {
  const failed = {
    kind: 'failed',
    class: 'validation',
    code: 'invalid_request',
    message: `no request with ${KEY}`,
    body: `{"error":"${KEY}"}`,
    ...{ nativeType: null, nativeCode: null, statusCode: 400 },
  } as const;
  const kept = keepSecret({ ...bare, complete: async () => failed }, KEY);
  expect(await kept.complete(COMPLETE)).toEqual({
    ...failed,
    message: 'no request with [key]',
    body: '{"error":"[key]"}',
  });
});

test('without a credential nothing is asked', async () => {
  expect(await caught(bare.complete(COMPLETE))).toMatchObject({ code: 'credential_refused', mayHaveActed: false });
});

test('any other error is passed on as it is', async () => {
  const error = telling('no such batch', new Error('reply'));
  const retrieveBatch = async (): Promise<never> => {
    throw error;
  };
  const kept = keepSecret({ ...bare, retrieveBatch }, KEY);
  expect(await caught(kept.retrieveBatch({ providerBatchId: 'b', signal }))).toBe(error);
});
