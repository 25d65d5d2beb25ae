import type { ItemGroup } from '../../domain/admission-facts.ts';
import { GatewayError } from '../../domain/gateway-error.ts';

/** A job's items follow the job's model or name their own; more models than this is a mistake, not a job. */
export const MAX_MODELS = 100;
/** Combinations of model, features and size class: ordinary jobs have a handful. */
const MAX_GROUPS = 10_000;
/** Classes are floor(log2) of a 31-bit count. */
const CLASS_BITS = 32;

/** What a group needs to know of one item. */
export interface TallyItem {
  readonly requestedModel: string | null;
  readonly features: number;
  readonly inputTokens: number;
  readonly maxOutputTokens: number | null;
  /** Replies asked for at once. */
  readonly choices: number;
  readonly bodyBytes: number;
}

/** `features` is kept as given in the column, but its bits alone cannot be told from a sum with a class, hence the product. */
type Groups = Map<number, Group>;
type Group = { -readonly [field in keyof ItemGroup]: ItemGroup[field] };

/** Counts items by kind while they pass. Memory is bounded by its limits; beyond them it throws `invalid_request`. */
export class GroupTally {
  readonly #byModel = new Map<string, Groups>();
  #groups = 0;

  add(item: TallyItem): void {
    const tokenClass = 31 - Math.clz32(Math.max(1, item.inputTokens));
    const ofModel = this.#ofModel(item.requestedModel ?? '');
    const key = item.features * CLASS_BITS + tokenClass;
    let group = ofModel.get(key);
    if (group === undefined) {
      group = this.#newGroup(item, tokenClass);
      ofModel.set(key, group);
    }
    group.items += 1;
    group.bytes += item.bodyBytes;
    if (item.bodyBytes > group.largestBytes) group.largestBytes = item.bodyBytes;
    group.inputTokens += item.inputTokens;
    if (item.maxOutputTokens === null) group.uncappedItems += item.choices;
    else group.outputTokens += item.maxOutputTokens;
  }

  groups(): ItemGroup[] {
    return [...this.#byModel.values()].flatMap((groups) => [...groups.values()]);
  }

  #ofModel(model: string): Groups {
    const found = this.#byModel.get(model);
    if (found !== undefined) return found;
    if (this.#byModel.size >= MAX_MODELS) {
      throw new GatewayError(
        'invalid_request',
        `Items of one job may name at most ${MAX_MODELS} models. Use several jobs.`,
        {
          field: 'items[*].request.model',
        },
      );
    }
    const groups: Groups = new Map();
    this.#byModel.set(model, groups);
    return groups;
  }

  #newGroup({ requestedModel, features }: TallyItem, tokenClass: number): Group {
    this.#groups += 1;
    if (this.#groups > MAX_GROUPS) {
      throw new GatewayError('invalid_request', 'The items are of too many kinds for one job. Use several jobs.', {
        field: 'items[*].request',
      });
    }
    const counts = { items: 0, bytes: 0, largestBytes: 0, inputTokens: 0, outputTokens: 0, uncappedItems: 0 };
    return { requestedModel: requestedModel ?? '', features, tokenClass, ...counts };
  }
}
