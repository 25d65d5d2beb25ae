import type { Context, Handler } from 'hono';
import type { Env } from '../endpoint.ts';

/** What stands before the verb of a path like `…/{target}:{verb}`; the route names the whole `target`. */
export function targetOf(context: Context<Env>): string {
  return splitVerb(context).target;
}

/** Routes a path by the verb after its last colon; '' is a path without one. */
export function byVerb(handlers: Readonly<Record<string, Handler<Env>>>): Handler<Env> {
  return (context, next) => {
    const { verb } = splitVerb(context);
    const handler = Object.hasOwn(handlers, verb) ? handlers[verb] : undefined;
    return handler === undefined ? context.notFound() : handler(context, next);
  };
}

function splitVerb(context: Context<Env>): { target: string; verb: string } {
  const whole = context.req.param('target') ?? '';
  const colon = whole.lastIndexOf(':');
  return colon === -1 ? { target: whole, verb: '' } : { target: whole.slice(0, colon), verb: whole.slice(colon + 1) };
}
