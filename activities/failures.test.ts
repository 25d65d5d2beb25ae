import { ApplicationFailure, CancelledFailure } from '@temporalio/activity';
import { MockActivityEnvironment } from '@temporalio/testing';
import { DefaultLogger } from '@temporalio/worker';
import { expect, test } from 'vitest';
import { GatewayError } from '../domain/gateway-error.ts';
import { ProviderError } from '../providers/provider-error.ts';
import { translateFailures } from './failures.ts';

const SECRET = 'a prompt';
const providerError = (facts: Partial<ConstructorParameters<typeof ProviderError>[0]>) =>
  new ProviderError({ code: 'unavailable', message: SECRET, isRetryable: true, mayHaveActed: true, ...facts });

/** What the SDK logs of a failing activity is not looked at here. */
function newEnvironment(): MockActivityEnvironment {
  return new MockActivityEnvironment({}, { logger: new DefaultLogger('ERROR') });
}

async function failureOf(thrown: unknown, environment = newEnvironment()): Promise<ApplicationFailure> {
  const { act } = translateFailures({
    act: async (_input: null): Promise<void> => {
      throw thrown;
    },
  });
  return environment.run(act, null).then(
    () => expect.unreachable('it fails'),
    (error: unknown) => error as ApplicationFailure,
  );
}

function parserError(): unknown {
  try {
    return JSON.parse(SECRET);
  } catch (error) {
    return error;
  }
}

test.each([
  ['a provider', providerError({ status: 503 }), 'unavailable', 'provider: unavailable (503)'],
  ['a provider without a reply', providerError({ code: 'timed_out' }), 'timed_out', 'provider: timed_out'],
  ['a parser', parserError(), 'unexpected', 'SyntaxError'],
  [
    'a statement that was refused',
    Object.assign(new Error(`value "${SECRET}" is out of range`), { code: '22003' }),
    'system_error',
    'error 22003',
  ],
  [
    'a database that is away',
    Object.assign(new Error('connect'), { code: 'ECONNREFUSED' }),
    'database_unreachable',
    'the database cannot be reached',
  ],
  ['the gateway itself', new GatewayError('job_busy', 'Try again.'), 'job_busy', 'Try again.'],
  ['this code', new Error('no attempt 3 of shard 1'), 'unexpected', 'no attempt 3 of shard 1'],
  ['something that is no error', SECRET, 'unexpected', 'string'],
])('a failure of %s is told by a closed word, without anybody’s text', async (_source, thrown, type, message) => {
  const failure = await failureOf(thrown);
  expect(failure).toBeInstanceOf(ApplicationFailure);
  expect(failure).toMatchObject({ type, message, nonRetryable: false });
  expect(failure.cause).toBeUndefined();
  expect(failure.stack).not.toContain(SECRET);
});

test('a failure keeps where it happened, and the wait that the provider asks for', async () => {
  const failure = await failureOf(providerError({ retryAfterMs: 7_000 }));
  expect(failure.nextRetryDelay).toBe(7_000);
  expect(failure.stack).toContain('failures.test.ts');
});

test('a failure of our own making passes as it is', async () => {
  const own = ApplicationFailure.nonRetryable('never');
  expect(await failureOf(own)).toBe(own);
});

test('an aborted call of a cancelled activity is its cancellation, any other failure of it is not', async () => {
  const cancelled = () => {
    const environment = newEnvironment();
    environment.cancel('CANCELLED');
    return environment;
  };
  const aborted = providerError({ code: 'aborted' });
  expect(await failureOf(aborted, cancelled())).toBeInstanceOf(CancelledFailure);
  expect(await failureOf(new DOMException('gone', 'AbortError'), cancelled())).toBeInstanceOf(CancelledFailure);
  expect(await failureOf(providerError({}), cancelled())).toBeInstanceOf(ApplicationFailure);
  expect(await failureOf(aborted)).toBeInstanceOf(ApplicationFailure);
});
