import type { Catalogue, ProviderProfile } from '../../domain/catalogue.ts';
import { GatewayError } from '../../domain/gateway-error.ts';

/** Throws `invalid_request` for a provider this gateway does not have; `field` is where it was named. */
export function requireProvider(catalogue: Catalogue, provider: string, field: string): ProviderProfile {
  const profile = catalogue.findProfile(provider);
  if (profile !== null) return profile;
  const known = catalogue.profiles.map((each) => each.provider).join(', ');
  throw new GatewayError('invalid_request', `This gateway has no provider "${provider}". It has ${known}.`, { field });
}

/** The same for every name of a list. */
export function requireProviders(catalogue: Catalogue, providers: readonly string[], field: string): void {
  for (const [index, provider] of providers.entries()) requireProvider(catalogue, provider, `${field}[${index}]`);
}
