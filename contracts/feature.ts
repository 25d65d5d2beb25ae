import { z } from 'zod';
import { FEATURE, type Feature } from '../domain/request-features.ts';

type NameOf<Of extends Feature> = Lowercase<Of>;

const FEATURES = Object.keys(FEATURE) as Feature[];
/** What a provider may refuse; a malformed request is nobody's feature. */
const NAMES = FEATURES.filter((feature) => feature !== 'MALFORMED').map(featureName);

/** What a request may ask for, as the API names it: `STREAM` is `stream`. */
export const FeatureName = z.enum(NAMES).meta({
  description: 'Something a request may ask for beyond plain text in, plain text out.',
  example: 'stream',
});
export type FeatureName = z.infer<typeof FeatureName>;

export function featureName(feature: Feature): NameOf<Feature> {
  return feature.toLowerCase() as NameOf<Feature>;
}

export function toFeature(name: FeatureName): Feature {
  return name.toUpperCase() as Feature;
}
