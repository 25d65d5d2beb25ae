import {
  Connection,
  type ConnectionOptions,
  defaultGrpcRetryOptions,
  makeGrpcRetryInterceptor,
} from '@temporalio/client';

/** About a second of trying: someone waits for the answer, and may ask again. The SDK's own default is half a minute. */
const MAX_ATTEMPTS = 4;

/** A connection that is made at the first call, so that the api starts, and answers reads, while Temporal is away. */
export function openTemporal(options: ConnectionOptions): Connection {
  const retry = makeGrpcRetryInterceptor(defaultGrpcRetryOptions({ maxAttempts: MAX_ATTEMPTS }));
  return Connection.lazy({ ...options, interceptors: [retry] });
}
