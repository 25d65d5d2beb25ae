import { findProviderOfModel } from './price-book.ts';
import { isProvider, PROVIDERS, type Provider } from './provider.ts';

/** A model of a provider, as callers write it: `provider/model`. */
export interface ModelTarget {
  readonly provider: Provider;
  readonly model: string;
}

/** Alias → `provider/model`. */
export type ModelAliases = { readonly [alias: string]: string };

/** Aliases that every tenant starts with. */
export const DEFAULT_ALIASES: ModelAliases = {
  'analysis-large': 'openai/gpt-5.6-terra',
  'analysis-small': 'openai/gpt-5.6-luna',
  'embedding-small': 'openai/text-embedding-3-small',
  moderation: 'openai/omni-moderation-latest',
};

/**
 * What a caller's model name stands for: an alias, `provider/model` (which need not be in the price book), or a plain
 * id that the price book knows. An alias wins over a model of the same name. Null for any other name.
 */
export function resolveModel(name: string, aliases: ModelAliases): ModelTarget | null {
  const meant = Object.hasOwn(aliases, name) ? (aliases[name] ?? name) : name;
  return findQualified(meant) ?? findPlain(meant);
}

function findQualified(name: string): ModelTarget | null {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(slash, 0));
  const model = name.slice(slash + 1);
  return isProvider(provider) && model !== '' ? { provider, model } : null;
}

function findPlain(model: string): ModelTarget | null {
  const provider = findProviderOfModel(model, PROVIDERS);
  return provider === null ? null : { provider, model };
}
