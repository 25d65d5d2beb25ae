import { AsyncLocalStorage } from 'node:async_hooks';

/**
 * Whose rows statements may see on a pool that is bound by row-level security: one tenant's, or, for the gateway's own keys,
 * all.
 */
export type RowScope = { readonly kind: 'tenant'; readonly tenantId: string } | { readonly kind: 'gateway' };

/** `whichever` is for statements that read the same in every scope: what the connection has last been used for will do. */
export type StatementScope = RowScope | { readonly kind: 'none' } | { readonly kind: 'whichever' };

export const GATEWAY_SCOPE: RowScope = { kind: 'gateway' };

const NO_SCOPE: StatementScope = { kind: 'none' };

const current = new AsyncLocalStorage<StatementScope>();

/** Runs `work`, and all that it waits for, in a scope. Work that somebody else calls later has to be bound; see `bindScope`. */
export function inScope<Result>(scope: RowScope, work: () => Result): Result {
  return current.run(scope, work);
}

/** For statements whose answer no policy changes. */
export function inWhicheverScope<Result>(work: () => Result): Result {
  return current.run({ kind: 'whichever' }, work);
}

/** The scope of the code that asks; outside of any, no tenant's rows can be seen. */
export function currentScope(): StatementScope {
  return current.getStore() ?? NO_SCOPE;
}

/** The function as it would run now: for what is called after the request has been answered, such as the pull of a stream. */
export function bindScope<Arguments extends unknown[], Result>(
  work: (...given: Arguments) => Result,
): (...given: Arguments) => Result {
  const scope = currentScope();
  return (...given) => current.run(scope, work, ...given);
}
