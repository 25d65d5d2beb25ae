import type { Provider } from './provider.ts';

/** A model of a provider, as callers write it: `provider/model`. */
export interface ModelTarget {
  readonly provider: Provider;
  readonly model: string;
}

/** One of the targets an alias names, in the order in which they are tried. */
export interface AliasTarget extends ModelTarget {
  /** Where this target processes data; null for wherever its provider does. */
  readonly region: string | null;
  /** Share of the jobs that try it first, among the targets that have a weight; null keeps the written order. */
  readonly weight: number | null;
}

/** Alias → its targets. */
export type ModelAliases = { readonly [alias: string]: readonly AliasTarget[] };

/** `provider/model`, as callers write it. */
export function formatTarget({ provider, model }: ModelTarget): string {
  return `${provider}/${model}`;
}
