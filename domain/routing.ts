import type { Catalogue } from './catalogue.ts';
import type { AliasTarget, ModelAliases, ModelTarget } from './model-alias.ts';
import { hashText } from './stable-hash.ts';

/** What a model name may stand for: a target, and where it processes data if the name says so. */
export type Candidate = Pick<AliasTarget, 'provider' | 'model' | 'region'>;

/**
 * The targets of a model name in the order in which they are tried: those of an alias, `provider/model` (which need not
 * be in the price book), or a plain id that the price book knows. An alias wins over a model of the same name. Empty for
 * any other name. The same job and name get the same order every time.
 */
export function listCandidates(
  name: string,
  { aliases, catalogue, jobId }: { aliases: ModelAliases; catalogue: Catalogue; jobId: string },
): readonly Candidate[] {
  if (Object.hasOwn(aliases, name)) return orderTargets(aliases[name] ?? [], `${jobId}/${name}`);
  const target = findQualified(name, catalogue) ?? findPlain(name, catalogue);
  return target === null ? [] : [{ ...target, region: null }];
}

/**
 * Targets as written, but that those with a weight are drawn for the places they have, each place by the weights of
 * those left. Over many seeds the first place goes to each in proportion to its weight. Weights are whole numbers; one
 * of 0 comes after the others.
 */
export function orderTargets(targets: readonly AliasTarget[], seed: string): readonly AliasTarget[] {
  const drawn = drawAll(
    targets.filter((target) => target.weight !== null),
    seed,
  );
  return targets.map((target) => (target.weight === null ? target : (drawn.next().value ?? target)));
}

function* drawAll(targets: readonly AliasTarget[], seed: string): Generator<AliasTarget, undefined> {
  const left = [...targets];
  while (left.length > 0) {
    const total = left.reduce((sum, { weight }) => sum + (weight ?? 0), 0);
    let ticket = total === 0 ? 0 : hashText(`${seed}/${left.length}`) % total;
    const place = left.findIndex(({ weight }) => {
      ticket -= weight ?? 0;
      return ticket < 0;
    });
    yield* left.splice(Math.max(place, 0), 1);
  }
  return undefined;
}

function findQualified(name: string, catalogue: Catalogue): ModelTarget | null {
  const slash = name.indexOf('/');
  const provider = name.slice(0, Math.max(slash, 0));
  const model = name.slice(slash + 1);
  return catalogue.findProfile(provider) !== null && model !== '' ? { provider, model } : null;
}

function findPlain(model: string, { prices }: Catalogue): ModelTarget | null {
  const provider = prices.findProviderOf(model);
  return provider === null ? null : { provider, model };
}
