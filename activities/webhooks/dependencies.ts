import type { ActivityDependencies } from '../dependencies.ts';

/** What the delivery of webhooks may use. */
export interface WebhookDependencies extends Pick<ActivityDependencies, 'db' | 'cipher' | 'now' | 'random' | 'log'> {
  /** Hosts that may be called although their addresses are not public, and without TLS. */
  readonly allowedFetchHosts: ReadonlySet<string>;
  /** An answer that takes longer is none. */
  readonly answerMs: number;
}
