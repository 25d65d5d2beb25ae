import { z } from 'zod';
import { FaultAction, type FaultKey } from './fault-actions.ts';
import type { Facts } from './journal.ts';

/** One line of the script: what happens on which calls. */
export const Fault = z.strictObject({
  provider: z.string(),
  /** A route name of the provider, or `*` for any HTTP route. */
  route: z.string(),
  /** On how many calls it fires. */
  times: z.union([z.number().int().positive(), z.literal('always')]).default(1),
  /** How many matching calls pass before it may fire, whatever happens to them. */
  skip: z.number().int().nonnegative().default(0),
  /** Facts of the call, as the journal shows them: equal, and for a map (metadata) containing each given text. */
  match: z.record(z.string(), z.union([z.string(), z.record(z.string(), z.string())])).optional(),
  action: FaultAction,
});
export type Fault = z.input<typeof Fault>;

/** A fault with how often its calls were seen and how often it fired. */
export type ScriptedFault = z.output<typeof Fault> & { id: number; seen: number; fired: number };

export interface Faults {
  add(faults: readonly Fault[]): ScriptedFault[];
  /** The action of the first fault that fires on this call; `{}` when none does. Counts the call. */
  take(provider: string, route: string, facts: Facts): FaultAction;
  /** Those that may still fire. */
  remaining(): ScriptedFault[];
  clear(): void;
}

/** A declared script, no dice: the same calls in the same order meet the same faults. */
export function createFaults(): Faults {
  let script: ScriptedFault[] = [];
  let lastId = 0;
  return {
    add(faults) {
      const added = faults.map((fault) => {
        lastId += 1;
        return { ...Fault.parse(fault), id: lastId, seen: 0, fired: 0 };
      });
      script.push(...added);
      return added;
    },
    take(provider, route, facts) {
      const matching = script.filter((fault) => matches(fault, provider, route, facts));
      for (const fault of matching) fault.seen += 1;
      const firing = matching.find((fault) => fault.seen > fault.skip);
      if (firing === undefined) return {};
      firing.fired += 1;
      script = script.filter(isLeft);
      return firing.action;
    },
    remaining: () => script.filter(isLeft),
    clear() {
      script = [];
    },
  };
}

/** The keys of an action a route does not know. */
export function unknownKeys(action: FaultAction, known: readonly FaultKey[]): string[] {
  return Object.keys(action).filter((key) => !known.some((name) => name === key));
}

function isLeft(fault: ScriptedFault): boolean {
  return fault.times === 'always' || fault.fired < fault.times;
}

// A name with a colon is a moment of the simulator's own (a batch's files being written), not an HTTP route.
function matches(fault: ScriptedFault, provider: string, route: string, facts: Facts): boolean {
  const isRoute = fault.route === route || (fault.route === '*' && !route.includes(':'));
  return (
    isRoute &&
    fault.provider === provider &&
    Object.entries(fault.match ?? {}).every(([name, wanted]) => holds(facts[name], wanted))
  );
}

function holds(fact: unknown, wanted: string | Record<string, string>): boolean {
  if (typeof wanted === 'string') return String(fact) === wanted;
  if (typeof fact !== 'object' || fact === null) return false;
  const map = new Map<string, unknown>(Object.entries(fact));
  return Object.entries(wanted).every(([key, text]) => String(map.get(key) ?? '').includes(text) && map.has(key));
}
