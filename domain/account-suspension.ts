/** That a tenant, or a customer of it, may start nothing new. */
export interface AccountSuspension {
  readonly of: 'tenant' | 'customer';
  /** As its admin gave it; null where none was given. */
  readonly reason: string | null;
}

/** What callers are told, in full. */
export function suspensionMessage({ of, reason }: AccountSuspension): string {
  const told = `The ${of} is suspended, so nothing new starts. What runs goes on; it can be read, cancelled and deleted.`;
  return reason === null ? told : `${told} Reason: ${reason}`;
}
