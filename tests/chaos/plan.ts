import type { Fault } from '../../simulators/faults.ts';
import type { SimulatedProvider } from '../harness/simulated-provider.ts';
import { createDice, type Dice } from './dice.ts';
import { pickFault } from './fault-menu.ts';

export const PROVIDERS: readonly SimulatedProvider[] = ['openai', 'anthropic', 'gemini'];

const MODELS = {
  openai: 'openai/gpt-4o-mini',
  anthropic: 'anthropic/claude-sonnet-4-6',
  gemini: 'gemini/gemini-2.5-flash',
} as const satisfies { readonly [provider in SimulatedProvider]: string };

/** One job and what its client does with it. */
export interface JobPlan {
  /** Index of its tenant. */
  readonly tenant: number;
  readonly provider: SimulatedProvider;
  readonly model: string;
  /** Prompts in the order of their items, by the call that appends them. */
  readonly appends: readonly (readonly string[])[];
  readonly maxItemsPerShard: number;
  readonly maxCost: string | null;
  /** Tries of an item inside the job, the first counted. */
  readonly tries: number;
  readonly startsAtMs: number;
  /** The client sends every call twice, at once, under one key. */
  readonly doubles: boolean;
}

export interface TenantPlan {
  /** Dollars the tenant may spend in all; what is too little for its jobs has some of them refused. */
  readonly limit: string;
}

/** One thing done to the gateway, to Temporal, to Postgres, to a provider or to a job. */
export type Act =
  | { readonly kind: 'kill_api' }
  | { readonly kind: 'kill_worker'; readonly worker: number }
  | { readonly kind: 'kill_all' }
  | { readonly kind: 'freeze_worker'; readonly worker: number; readonly forMs: number }
  | { readonly kind: 'restart_temporal'; readonly signal: 'SIGTERM' | 'SIGKILL' }
  | { readonly kind: 'restart_postgres'; readonly mode: 'fast' | 'immediate' | 'crash' }
  | { readonly kind: 'cut_connections' }
  | { readonly kind: 'fault'; readonly fault: Fault }
  | { readonly kind: 'advance_clock'; readonly byMs: number }
  | { readonly kind: 'cancel_job'; readonly job: number; readonly road: 'api' | 'signal' | 'temporal' }
  | { readonly kind: 'cancel_at_provider'; readonly job: number }
  | { readonly kind: 'terminate'; readonly job: number; readonly what: 'job' | 'shards' | 'both' }
  | { readonly kind: 'poll_now'; readonly job: number };

export type ActKind = Act['kind'];

export interface PlannedAct {
  readonly atMs: number;
  readonly act: Act;
}

/** Everything that a seed stands for. */
export interface SeedPlan {
  readonly seed: number;
  readonly tenants: readonly TenantPlan[];
  readonly jobs: readonly JobPlan[];
  /** By time. */
  readonly acts: readonly PlannedAct[];
  /** In the end the windows of all batches pass, instead of stuck ones being let go. */
  readonly windowsPass: boolean;
}

/** More than a seed has. */
const MOST_JOBS = 10;
const ACTS_LAST_MS = 5_000;
/** Longer than any activity or heartbeat may take in the stack. */
const FREEZE_MS = 12_000;
const A_MINUTE_MS = 60_000;
/** Well below the shortest window, so that a batch expires by it only where `windowsPass`. */
const LONGEST_JUMP_MS = 2 * 3_600_000;

const MARKS = [
  '[[sim:error=server_error]]',
  '[[sim:error=rate_limit]]',
  '[[sim:invalid]]',
  '[[sim:missing]]',
  '[[sim:duplicate]]',
  '[[sim:safety]]',
  '[[sim:usage=none]]',
  '[[sim:usage=alien]]',
  '[[sim:usage=90000,8000]]',
  '[[sim:reasoning=50]]',
];

/** The same seed gives the same plan, on every machine and at any time. */
export function planSeed(seed: number): SeedPlan {
  const dice = createDice(seed);
  const tenants = [{ limit: '1000' }, { limit: dice.pick(['1000', '0.002', '0.0005']) }, { limit: '50' }];
  const windowsPass = dice.chance(15);
  const providers = [...PROVIDERS, ...Array.from({ length: dice.between(1, 3) }, () => dice.pick(PROVIDERS))];
  const jobs = providers
    .map((provider, index) => planJob(dice, provider, { index, windowsPass }))
    .map((job, index) => withTries(createDice(seed * MOST_JOBS + index), job));
  const acts = planActs(dice, jobs.length).toSorted((a, b) => a.atMs - b.atMs);
  return { seed, tenants, jobs, acts, windowsPass };
}

function planJob(
  dice: Dice,
  provider: SimulatedProvider,
  { index, windowsPass }: { readonly index: number; readonly windowsPass: boolean },
): JobPlan {
  const items = dice.between(2, 9);
  const prompts = Array.from({ length: items }, (_, itemIndex) => planPrompt(dice, index, itemIndex + 1, windowsPass));
  const parts = Math.min(items, dice.between(1, 3));
  const partSize = Math.ceil(items / parts);
  const appends = Array.from({ length: parts }, (_, part) => prompts.slice(part * partSize, (part + 1) * partSize));
  return {
    tenant: dice.between(0, 2),
    provider,
    model: MODELS[provider],
    appends: appends.filter((texts) => texts.length > 0),
    maxItemsPerShard: dice.between(2, 4),
    maxCost: dice.chance(8) ? '0.0001' : null,
    tries: 1,
    startsAtMs: dice.between(0, 1_500),
    doubles: dice.chance(30),
  };
}

/** Of the items that fail some do so once alone, so that trying them again does good. */
function withTries(dice: Dice, job: JobPlan): JobPlan {
  const tries = dice.pick([1, 1, 2, 3]);
  if (tries === 1) return job;
  const mend = (text: string): string =>
    text.includes('[[sim:error') && dice.chance(60) ? `${text} [[sim:once]]` : text;
  return { ...job, tries, appends: job.appends.map((texts) => texts.map(mend)) };
}

/** The reply names the job and the item, so that one that came to another's place is seen. */
function planPrompt(dice: Dice, job: number, item: number, windowsPass: boolean): string {
  const text = `${questionText(job, item)} [[sim:text=${replyText(job, item)}]]`;
  // At Gemini such an item keeps its batch until the window is over.
  if (windowsPass && dice.chance(8)) return `${text} [[sim:expire]]`;
  return dice.chance(15) ? `${text} ${dice.pick(MARKS)}` : text;
}

export function questionText(job: number, item: number): string {
  return `question ${item} of job ${job}`;
}

export function replyText(job: number, item: number): string {
  return `answer ${item} of job ${job}`;
}

function planActs(dice: Dice, jobs: number): PlannedAct[] {
  const faults = Array.from({ length: dice.between(2, 6) }, () => ({
    atMs: dice.chance(60) ? 0 : dice.between(0, ACTS_LAST_MS),
    act: { kind: 'fault' as const, fault: pickFault(dice, dice.pick(PROVIDERS)) },
  }));
  const others = Array.from({ length: dice.between(3, 6) }, () => ({
    atMs: dice.between(300, ACTS_LAST_MS),
    act: pickAct(dice, jobs),
  }));
  return [...faults, ...others];
}

/** Kinds that take a seed longer are rarer. */
function pickAct(dice: Dice, jobs: number): Act {
  const job = dice.between(0, jobs - 1);
  const worker = dice.between(0, 1);
  const signal = dice.pick(['SIGTERM', 'SIGKILL'] as const);
  const mode = dice.pick(['fast', 'immediate', 'crash'] as const);
  const road = dice.pick(['api', 'signal', 'temporal'] as const);
  const what = dice.pick(['job', 'shards', 'both'] as const);
  const byMs = dice.pick([1_000, 30_000, A_MINUTE_MS, LONGEST_JUMP_MS]);
  const acts: readonly (readonly [weight: number, act: Act])[] = [
    [10, { kind: 'kill_api' }],
    [14, { kind: 'kill_worker', worker }],
    [4, { kind: 'kill_all' }],
    [4, { kind: 'freeze_worker', worker, forMs: FREEZE_MS }],
    [7, { kind: 'restart_temporal', signal }],
    [8, { kind: 'restart_postgres', mode }],
    [8, { kind: 'cut_connections' }],
    [8, { kind: 'advance_clock', byMs }],
    [18, { kind: 'cancel_job', job, road }],
    [6, { kind: 'cancel_at_provider', job }],
    [8, { kind: 'terminate', job, what }],
    [5, { kind: 'poll_now', job }],
  ];
  return dice.pick(acts.flatMap(([weight, act]) => Array.from({ length: weight }, () => act)));
}
