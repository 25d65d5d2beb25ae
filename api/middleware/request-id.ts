import type { MiddlewareHandler } from 'hono';
import { newId } from '../../db/ids.ts';
import type { ApiEnv } from '../env.ts';

/** Gives every request an id of ours, told in `X-Request-Id` and in every error. */
export const requestId: MiddlewareHandler<ApiEnv> = async (c, next) => {
  const id = newId('request');
  c.set('requestId', id);
  c.header('X-Request-Id', id);
  await next();
};
