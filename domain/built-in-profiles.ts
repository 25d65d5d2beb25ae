import { type AnthropicApiVersion, anthropicCapabilities } from './capabilities-anthropic.ts';
import { GEMINI_CAPABILITIES } from './capabilities-gemini.ts';
import { OPENAI_CAPABILITIES } from './capabilities-openai.ts';
import type { ProviderProfile } from './catalogue.ts';
import { PUBLISHED_PRICES } from './price-book.ts';
import { DIALECTS, type Dialect } from './provider.ts';

export interface BuiltInSettings {
  readonly anthropicApiVersion: AnthropicApiVersion;
  /** Where the address of each provider processes data; `global` where it makes no promise. */
  readonly regions: { readonly [dialect in Dialect]: string };
}

/** The three providers every gateway knows, named like their dialects. */
export function builtInProfiles({ anthropicApiVersion, regions }: BuiltInSettings): readonly ProviderProfile[] {
  const capabilities = {
    openai: OPENAI_CAPABILITIES,
    anthropic: anthropicCapabilities(anthropicApiVersion),
    gemini: GEMINI_CAPABILITIES,
  };
  return DIALECTS.map((dialect) => ({
    provider: dialect,
    dialect,
    region: regions[dialect],
    capabilities: capabilities[dialect],
    prices: PUBLISHED_PRICES.filter((price) => price.provider === dialect),
  }));
}
