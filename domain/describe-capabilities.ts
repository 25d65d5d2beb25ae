import type { CapabilityRow, FeatureRefusal } from './capability-row.ts';
import type { Catalogue } from './catalogue.ts';
import { FEATURES_OF_ENDPOINT, type Feature } from './request-features.ts';

/** A row of the matrix with all its endpoint's features answered. */
export interface DescribedCapability extends Omit<CapabilityRow, 'refuses' | 'sizesDiffer'> {
  /** Where the provider's address processes data; `global` where it makes no promise. */
  readonly region: string;
  /** Whether requests reach the provider as they are written; else they are translated. */
  readonly isNative: boolean;
  readonly features: readonly { readonly feature: Feature; readonly isSupported: boolean }[];
  /** Why what is not supported is not, and what to do instead. */
  readonly refusals: readonly FeatureRefusal[];
}

/** The whole matrix. Of the rows of a provider and endpoint the first that matches a model speaks of it. */
export function describeCapabilities(catalogue: Catalogue): readonly DescribedCapability[] {
  return catalogue.capabilities.map(({ refuses, sizesDiffer: _, ...row }) => {
    const features = FEATURES_OF_ENDPOINT[row.endpoint];
    const refusals = refuses.filter(({ feature }) => features.includes(feature));
    const profile = catalogue.findProfile(row.provider);
    return {
      ...row,
      region: profile?.region ?? 'global',
      isNative: profile?.dialect === 'openai' || row.endpoint === 'messages' || row.endpoint === 'generate_content',
      features: features.map((feature) => ({
        feature,
        isSupported: !refusals.some((refusal) => refusal.feature === feature),
      })),
      refusals,
    };
  });
}
