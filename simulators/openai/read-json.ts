import type { Context } from 'hono';
import type { Env } from '../endpoint.ts';
import { invalidRequest } from './errors.ts';
import type { Body } from './prompt.ts';

/** The JSON object a request carries; 400 for anything else. */
export async function readJson(context: Context<Env>): Promise<Body> {
  const body: unknown = await context.req.json().catch(() => undefined);
  if (typeof body !== 'object' || body === null || Array.isArray(body)) {
    throw invalidRequest('We could not parse the JSON body of your request.');
  }
  return body as Body;
}
