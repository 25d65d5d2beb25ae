import type { IncomingMessage, ServerResponse } from 'node:http';
import type { HttpBindings } from '@hono/node-server';
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response';
import type { Context, Handler } from 'hono';
import type { Clock } from './clock.ts';
import type { FaultAction } from './fault-actions.ts';
import type { Faults } from './faults.ts';
import type { Facts, Journal, JournalEntry } from './journal.ts';

/** The Hono environment of every simulator: Node's own request and response are at hand for socket faults. */
export interface Env {
  Bindings: HttpBindings;
}

export interface JsonReply {
  status: number;
  json: unknown;
  headers?: Record<string, string>;
}

/** A reply that writes itself, status line included. */
interface StreamReply {
  stream(outgoing: ServerResponse): Promise<void>;
}

type Reply = JsonReply | StreamReply;

/** Thrown by a route to answer with a provider error. */
export class Refusal extends Error {
  readonly reply: JsonReply;

  constructor(reply: JsonReply) {
    super(`refused with ${reply.status}`);
    this.reply = reply;
  }
}

export type Query = Readonly<Record<string, string>>;

/** What differs between providers in how any request is answered. */
export interface Dialect {
  provider: string;
  /** The refusal of a request whose credentials, or other headers every request has, are not valid. */
  authenticate(headers: Headers, query: Query): JsonReply | undefined;
  /** The provider's own error reply for a scripted status. */
  errorReply(status: number): JsonReply;
  /** Headers of every reply. */
  replyHeaders(): Record<string, string>;
  /** Facts every request is recorded with. */
  requestFacts(headers: Headers, query: Query): Facts;
}

/** One request under way. */
interface Call<Input> {
  context: Context<Env>;
  incoming: IncomingMessage;
  input: Input;
  /** The fault that fired on it; keys of the pipeline are dealt with already. */
  action: FaultAction;
  /** Adds facts to its journal entry. */
  note(facts: Facts): void;
}

export interface Route<Input> {
  name: string;
  /** Answers without credentials. */
  isPublic?: boolean;
  /** Reads what identifies the call, before any fault is chosen; `facts` may be matched by faults. */
  read(context: Context<Env>): Promise<{ input: Input; facts: Facts }>;
  act(call: Call<Input>): Promise<Reply>;
  /** Frees what `read` put aside and `act`, if it was called at all, did not take. */
  release?(input: Input): void;
}

/**
 * Turns a route into a handler: authenticate, read, choose the fault, act, answer; with the scripted delay, drop or
 * other answer at its place. README.md says which key does what.
 */
export function createEndpoints(parts: { dialect: Dialect; clock: Clock; faults: Faults; journal: Journal }) {
  const { dialect, clock, faults, journal } = parts;

  const wait = (delayMs: number | undefined, action: FaultAction) => {
    if (delayMs === undefined) return Promise.resolve();
    if (action.delay_clock === 'real') return new Promise<void>((resolve) => setTimeout(resolve, delayMs).unref());
    return clock.sleep(delayMs);
  };

  const answer = async <Input>(route: Route<Input>, context: Context<Env>, entry: JournalEntry) => {
    const { headers } = context.req.raw;
    const refused = route.isPublic ? undefined : dialect.authenticate(headers, context.req.query());
    if (refused !== undefined) return refused;
    const { input, facts } = await route.read(context);
    Object.assign(entry.facts, facts);
    return outcome(route, context, entry, input).finally(() => route.release?.(input));
  };

  const outcome = async <Input>(route: Route<Input>, context: Context<Env>, entry: JournalEntry, input: Input) => {
    const action = faults.take(dialect.provider, route.name, entry.facts);
    if (Object.keys(action).length > 0) entry.fault = Object.keys(action);
    await wait(action.delay_before_ms, action);
    if (action.drop_before) return 'drop';
    const { incoming } = context.env;
    const note = (more: Facts) => Object.assign(entry.facts, more);
    const reply =
      scriptedReply(action, dialect) ??
      (await route.act({ context, incoming, input, action, note }).catch(replyOfRefusal));
    await wait(action.delay_ms, action);
    if (action.drop_after) return 'drop';
    if (action.status_after !== undefined) return scripted(action.status_after, action, dialect);
    return 'json' in reply ? { ...reply, headers: { ...reply.headers, ...action.headers } } : reply;
  };

  return <Input>(route: Route<Input>): Handler<Env> =>
    async (context) => {
      const { incoming, outgoing } = context.env;
      const { method, path } = context.req;
      const facts = dialect.requestFacts(context.req.raw.headers, context.req.query());
      const entry = journal.open({ provider: dialect.provider, route: route.name, method, path, facts });
      outgoing.once('close', () => journal.end(entry));
      const reply = await answer(route, context, entry).catch(replyOfRefusal);
      // Answering while the client still sends would look like a broken connection to it.
      if (reply !== 'drop' && !incoming.complete && !incoming.destroyed) await drained(incoming);
      if (reply === 'drop' || outgoing.destroyed) {
        outgoing.destroy();
        return RESPONSE_ALREADY_SENT;
      }
      for (const [name, value] of Object.entries(dialect.replyHeaders())) outgoing.setHeader(name, value);
      if ('stream' in reply) {
        entry.status = 200;
        await reply.stream(outgoing);
      } else {
        entry.status = reply.status;
        sendJson(outgoing, reply);
      }
      return RESPONSE_ALREADY_SENT;
    };
}

/** Writes a whole JSON reply; a string goes out as it is. */
export function sendJson(outgoing: ServerResponse, { status, json, headers }: JsonReply): void {
  const body = Buffer.from(typeof json === 'string' ? json : JSON.stringify(json));
  outgoing.writeHead(status, { 'content-type': 'application/json', ...headers, 'content-length': body.length });
  outgoing.end(body);
}

function scriptedReply(action: FaultAction, dialect: Dialect): JsonReply | undefined {
  if (action.not_found) return scripted(404, action, dialect);
  if (action.error_object_200) return { ...scripted(500, action, dialect), status: 200 };
  if (action.status !== undefined) return scripted(action.status, action, dialect);
  return undefined;
}

function scripted(status: number, action: FaultAction, dialect: Dialect): JsonReply {
  const standard = dialect.errorReply(status);
  const headers = { ...standard.headers, ...action.headers };
  return { status, json: action.body === undefined ? standard.json : action.body, headers };
}

function replyOfRefusal(error: unknown): JsonReply {
  if (error instanceof Refusal) return error.reply;
  throw error;
}

async function drained(incoming: IncomingMessage): Promise<void> {
  incoming.resume();
  await new Promise<void>((resolve) => {
    incoming.once('end', resolve).once('close', resolve);
  });
}
