import type { HttpBindings } from '@hono/node-server';
import { type Hook, OpenAPIHono } from '@hono/zod-openapi';
import type { Context } from 'hono';
import type { Principal } from '../domain/principal.ts';
import { refuseInvalid } from './validation-error.ts';

/** What a request carries on its way. `principal` is set on every route behind `authenticate`. */
export interface ApiEnv {
  Bindings: Partial<HttpBindings>;
  Variables: {
    requestId: string;
    principal: Principal;
    /** SHA-256 of the body, set by `readJsonBody`. */
    contentHash: Uint8Array;
    /** What the route adds to the request's line in the log. */
    logged: Readonly<Record<string, string>>;
  };
}

export type ApiContext = Context<ApiEnv>;
export type ApiApp = OpenAPIHono<ApiEnv>;

export function newApiApp(): ApiApp {
  return new OpenAPIHono<ApiEnv>({ defaultHook: refuse });
}

const refuse: Hook<unknown, ApiEnv, string, unknown> = (result) => {
  if (!result.success) throw refuseInvalid(result.target, result.error);
};
