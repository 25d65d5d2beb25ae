import { Findings, type Problem } from './findings.ts';
import { inspectChat } from './inspect-chat.ts';
import { inspectGenerateContent } from './inspect-generate-content.ts';
import { inspectEmbeddings, inspectModerations } from './inspect-input.ts';
import { inspectMessages } from './inspect-messages.ts';
import { inspectResponses } from './inspect-responses.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { readOutputCap } from './output-cap.ts';
import type { Endpoint } from './provider.ts';
import { FEATURE, type Feature, featureField } from './request-features.ts';
import type { TokenCounter } from './token-counter.ts';

/** All that submit needs to know of one request, so that it judges groups of items and not their bodies. */
export interface Inspection {
  /** Bits of FEATURE. */
  readonly features: number;
  /** A cautious estimate, positive for every well-formed request. */
  readonly inputTokens: number;
  /** The most tokens of one choice, null where the request sets no limit. */
  readonly maxOutputTokens: number | null;
  readonly choices: number;
  /** Texts to embed; 0 on other endpoints. */
  readonly embeddingInputs: number;
  /** `request.model` where the item names its own. */
  readonly model: string | null;
  readonly problems: readonly Problem[];
}

/** Checks the shape of a request and measures it, in one walk. `request` is the body after the job's defaults. */
export function inspectRequest(endpoint: Endpoint, request: unknown): Inspection {
  const findings = new Findings();
  if (!isJsonObject(request)) {
    findings.problem('request', 'must be an object');
    const { features, inputTokens, problems } = findings;
    return { features, inputTokens, maxOutputTokens: null, choices: 1, embeddingInputs: 0, model: null, problems };
  }
  const embeddingInputs = inspect(endpoint, request, findings);
  const { maxOutputTokens, choices } = readOutputCap(endpoint, request);
  const { features, inputTokens, problems } = findings;
  const model = typeof request['model'] === 'string' ? request['model'] : null;
  return { features, inputTokens, maxOutputTokens, choices, embeddingInputs, model, problems };
}

/** Input tokens of a well-formed request, its text counted by `counter`. */
export function countInputTokens(endpoint: Endpoint, request: JsonObject, counter: TokenCounter): number {
  const findings = new Findings(null, counter);
  inspect(endpoint, request, findings);
  return findings.inputTokens;
}

/**
 * Where a request asks for a feature, the first places in their order, such as
 * `request.messages[3].content[1].image_url.detail`; at least the general place of the feature.
 */
export function findFeaturePlaces(endpoint: Endpoint, request: JsonObject, feature: Feature): readonly string[] {
  const findings = new Findings(new Map());
  inspect(endpoint, request, findings);
  const general = featureField(endpoint, feature);
  const places = findings.places?.get(FEATURE[feature]) ?? [general];
  // A rule of one member knows no more than its name, where the general place may know a member inside it.
  return places.map((place) => (general.startsWith(`${place}.`) ? general : place));
}

function inspect(endpoint: Endpoint, request: JsonObject, findings: Findings): number {
  if (endpoint === 'embeddings') return inspectEmbeddings(request, findings);
  INSPECTORS[endpoint](request, findings);
  return 0;
}

const INSPECTORS: {
  readonly [endpoint in Exclude<Endpoint, 'embeddings'>]: (request: JsonObject, findings: Findings) => void;
} = {
  'chat.completions': inspectChat,
  responses: inspectResponses,
  messages: inspectMessages,
  generate_content: inspectGenerateContent,
  moderations: inspectModerations,
};
