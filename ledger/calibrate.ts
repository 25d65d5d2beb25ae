import { setImmediate } from 'node:timers/promises';
import type pg from 'pg';
import type { JobRow } from '../db/job-rows.ts';
import { readTokenSample, type SampledItem } from '../db/token-sample.ts';
import { judgeAdmission, type Verdict } from '../domain/admission.ts';
import type { AdmissionFacts } from '../domain/admission-facts.ts';
import type { JsonObject } from '../domain/json-object.ts';
import { mergeRequestDefaults } from '../domain/merge-defaults.ts';
import { countInputTokens } from '../domain/request-inspection.ts';
import {
  type Calibration,
  type ModelCalibration,
  type SampledBand,
  TOKEN_BANDS,
  type TokenBand,
} from '../domain/token-calibration.ts';
import { CLASS_COUNTER } from '../domain/token-counter.ts';
import { tokenizerOf } from '../domain/tokenizer.ts';
import { loadTokenCounter, TOKENIZER_LIBRARY } from './tokenizer.ts';

type Queryable = Pick<pg.Pool, 'query'>;

/** The verdict on a job, its input tokens by a sample of its items. What validate shows and submit holds. */
export async function judgeCalibrated(db: Queryable, job: JobRow, facts: AdmissionFacts): Promise<Verdict> {
  const calibration = await calibrate(db, job, facts);
  return calibration === null ? judgeAdmission(facts) : judgeAdmission({ ...facts, calibration });
}

/**
 * Counts a sample of the job's items with the tokenizer of each model's target, beside the count they have from their
 * append. The same items, the same answer. Null for a job that cannot be priced as it is. Reads outside the caller's
 * transaction, and yields to other work between items: a tenth of a second for prose, up to one for base64 as text.
 */
export async function calibrate(db: Queryable, job: JobRow, facts: AdmissionFacts): Promise<Calibration | null> {
  const { quote, targets } = judgeAdmission(facts);
  if (quote === null) return null;
  const byModel = Map.groupBy(await readTokenSample(db, job), ({ requestedModel }) => requestedModel);
  const models: ModelCalibration[] = [];
  for (const { requestedModel, target } of targets) {
    const sampled = byModel.get(requestedModel) ?? [];
    const dialect = facts.catalogue.findProfile(target.provider)?.dialect;
    if (sampled.length === 0 || dialect === undefined) continue;
    const tokenizer = tokenizerOf({ ...target, dialect });
    const bands = await countBands(job, sampled, await loadTokenCounter(tokenizer));
    models.push({ requestedModel, target, tokenizer, bands });
  }
  return { library: TOKENIZER_LIBRARY, models };
}

/** Both counts of each sampled item, added up by length. */
export async function countBands(
  { endpoint, requestDefaults }: Pick<JobRow, 'endpoint' | 'requestDefaults'>,
  sampled: readonly SampledItem[],
  tokenizer: Parameters<typeof countInputTokens>[2],
): Promise<SampledBand[]> {
  const defaults: JsonObject | null = requestDefaults === null ? null : JSON.parse(requestDefaults);
  const sums = new Map<TokenBand, SampledBand>();
  for (const { band, body } of sampled) {
    await setImmediate();
    const own: JsonObject = JSON.parse(body);
    const request = defaults === null ? own : mergeRequestDefaults(defaults, own);
    const so = sums.get(band) ?? { band, items: 0, countedTokens: 0, tokenizerTokens: 0 };
    sums.set(band, {
      band,
      items: so.items + 1,
      countedTokens: so.countedTokens + countInputTokens(endpoint, request, CLASS_COUNTER),
      tokenizerTokens: so.tokenizerTokens + countInputTokens(endpoint, request, tokenizer),
    });
  }
  return TOKEN_BANDS.flatMap((band) => sums.get(band) ?? []);
}
