import { type Catalogue, type CatalogueOverrides, createCatalogue } from '../catalogue.ts';
import { createGatewayCatalogue } from '../gateway-catalogue.ts';

/** The built-in providers, each in a region of its own, with what an admin said. */
export function testCatalogue(
  overrides: Partial<CatalogueOverrides> = {},
  anthropicApiVersion: '2026-10-21' | '2023-06-01' = '2026-10-21',
): Catalogue {
  const regions = { openai: 'global', anthropic: 'us', gemini: 'eu' };
  const { profiles } = createGatewayCatalogue({ anthropicApiVersion, regions, configured: [] });
  return createCatalogue(profiles, { prices: [], capabilities: [], ...overrides });
}
