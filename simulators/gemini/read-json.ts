import type { Context } from 'hono';
import type { Env } from '../endpoint.ts';
import { refusal } from './errors.ts';
import { isObject, type JsonObject } from './proto-json.ts';

/** The JSON object a request carries, an empty body being an empty one; 400 for anything else or for too much. */
export async function readJson(context: Context<Env>, maxBytes: number): Promise<{ body: JsonObject; bytes: number }> {
  if (Number(context.req.header('content-length') ?? 0) > maxBytes) throw tooLarge(maxBytes);
  const text = await context.req.text();
  const bytes = Buffer.byteLength(text);
  if (bytes > maxBytes) throw tooLarge(maxBytes);
  const body = text === '' ? {} : parsed(text);
  if (!isObject(body)) throw refusal('INVALID_ARGUMENT', 'Invalid JSON payload received. A JSON object is expected.');
  return { body, bytes };
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw refusal('INVALID_ARGUMENT', 'Invalid JSON payload received. Unexpected token.');
  }
}

function tooLarge(maxBytes: number) {
  return refusal('INVALID_ARGUMENT', `Request payload size exceeds the limit: ${maxBytes} bytes.`);
}
