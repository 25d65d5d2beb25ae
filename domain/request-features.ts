import type { Endpoint } from './provider.ts';

/** What a request asks for beyond plain text in, plain text out: one bit each, kept with every item. */
export const FEATURE = {
  /** The request has problems; the other bits may be incomplete. */
  MALFORMED: 1 << 0,
  /** An id of the person behind the request. */
  END_USER: 1 << 1,
  STREAM: 1 << 2,
  TOOLS: 1 << 3,
  FORCED_TOOL: 1 << 4,
  /** Tools the provider runs itself, with fees of their own. */
  SERVER_TOOLS: 1 << 5,
  STRUCTURED_OUTPUT: 1 << 6,
  IMAGE_INPUT: 1 << 7,
  DOCUMENT_INPUT: 1 << 8,
  AUDIO_INPUT: 1 << 9,
  VIDEO_INPUT: 1 << 10,
  /** Media by URL, which the provider fetches. */
  REMOTE_MEDIA: 1 << 11,
  /** A file by the provider's own id. */
  PROVIDER_FILE: 1 << 12,
  /** temperature, top_p or top_k, at whatever value. */
  SAMPLING: 1 << 13,
  /** Sampling that not every provider has: a frequency or presence penalty, a temperature above 1. */
  WIDE_SAMPLING: 1 << 14,
  /** Rules for tool calls: arguments that strictly follow their schema, one call at a time. */
  TOOL_RULES: 1 << 15,
  REASONING: 1 << 16,
  /** Reasoning explicitly switched off, which some models refuse. */
  REASONING_OFF: 1 << 17,
  SEED: 1 << 18,
  MULTIPLE_CHOICES: 1 << 19,
  LOGPROBS: 1 << 20,
  MEDIA_OUTPUT: 1 << 21,
  /** State kept at the provider: stored replies, earlier responses, conversations, prompt templates, caches. */
  PROVIDER_STATE: 1 << 22,
  /** A speed, tier or place of processing with a price of its own. */
  SERVICE_TIER: 1 << 23,
  /** Input as token ids, which belong to one provider's tokenizer. */
  TOKEN_INPUT: 1 << 24,
  /** A neutral request with an attachment that is neither a JPEG, PNG, GIF or WebP image, nor a PDF, nor text. */
  OTHER_MEDIA: 1 << 25,
  /** A member this gateway does not know: it can be passed on, never translated. */
  UNKNOWN_FIELD: 1 << 26,
  /** A wish about how closely an image is looked at. */
  IMAGE_DETAIL: 1 << 27,
  /** JSON of any shape, without a schema. */
  JSON_MODE: 1 << 28,
  /** More than one text to embed in one request. */
  MULTIPLE_INPUTS: 1 << 29,
  /** A member or value of a neutral request that only its first provider understands. */
  PROVIDER_SPECIFIC: 1 << 30,
} as const;
export type Feature = keyof typeof FEATURE;

export const FEATURES = Object.keys(FEATURE) as readonly Feature[];

/** Beyond MALFORMED, which every endpoint has. */
export const FEATURES_OF_ENDPOINT: { readonly [endpoint in Endpoint]: readonly Feature[] } = {
  'chat.completions': FEATURES.filter((feature) => !['MALFORMED', 'TOKEN_INPUT', 'MULTIPLE_INPUTS'].includes(feature)),
  responses: [
    ...(['END_USER', 'STREAM', 'TOOLS', 'FORCED_TOOL', 'SERVER_TOOLS', 'STRUCTURED_OUTPUT', 'JSON_MODE'] as const),
    ...(['IMAGE_INPUT', 'DOCUMENT_INPUT', 'AUDIO_INPUT', 'VIDEO_INPUT', 'REMOTE_MEDIA', 'PROVIDER_FILE'] as const),
    ...(['SAMPLING', 'REASONING', 'REASONING_OFF', 'LOGPROBS'] as const),
    ...(['PROVIDER_STATE', 'SERVICE_TIER', 'UNKNOWN_FIELD'] as const),
  ],
  messages: [
    ...(['STREAM', 'TOOLS', 'FORCED_TOOL', 'SERVER_TOOLS', 'STRUCTURED_OUTPUT'] as const),
    ...(['IMAGE_INPUT', 'DOCUMENT_INPUT', 'REMOTE_MEDIA', 'PROVIDER_FILE'] as const),
    ...(['SAMPLING', 'REASONING', 'REASONING_OFF', 'PROVIDER_STATE', 'SERVICE_TIER', 'UNKNOWN_FIELD'] as const),
  ],
  generate_content: [
    ...(['STREAM', 'TOOLS', 'FORCED_TOOL', 'SERVER_TOOLS', 'STRUCTURED_OUTPUT', 'JSON_MODE'] as const),
    ...(['IMAGE_INPUT', 'DOCUMENT_INPUT', 'AUDIO_INPUT', 'VIDEO_INPUT', 'PROVIDER_FILE'] as const),
    ...(['SAMPLING', 'WIDE_SAMPLING', 'REASONING', 'REASONING_OFF', 'SEED', 'MULTIPLE_CHOICES', 'LOGPROBS'] as const),
    ...(['MEDIA_OUTPUT', 'PROVIDER_STATE', 'SERVICE_TIER', 'UNKNOWN_FIELD'] as const),
  ],
  embeddings: ['END_USER', 'TOKEN_INPUT', 'MULTIPLE_INPUTS', 'PROVIDER_SPECIFIC', 'UNKNOWN_FIELD'],
  moderations: ['IMAGE_INPUT', 'DOCUMENT_INPUT', 'AUDIO_INPUT', 'VIDEO_INPUT', 'REMOTE_MEDIA', 'UNKNOWN_FIELD'],
};

/** Where each endpoint asks for a feature, when that is one member; several are named by the first. */
const FIELDS: { readonly [feature in Feature]?: { readonly [endpoint in Endpoint]?: string } } = {
  END_USER: everywhere('user'),
  STREAM: everywhere('stream'),
  TOOLS: everywhere('tools'),
  FORCED_TOOL: { ...everywhere('tool_choice'), generate_content: 'toolConfig' },
  SERVER_TOOLS: everywhere('tools'),
  STRUCTURED_OUTPUT: {
    'chat.completions': 'response_format',
    responses: 'text.format',
    messages: 'output_config.format',
    generate_content: 'generationConfig.responseSchema',
  },
  JSON_MODE: {
    'chat.completions': 'response_format',
    responses: 'text.format',
    generate_content: 'generationConfig.responseMimeType',
  },
  IMAGE_INPUT: inputOf(),
  IMAGE_DETAIL: inputOf(),
  DOCUMENT_INPUT: inputOf(),
  AUDIO_INPUT: inputOf(),
  VIDEO_INPUT: inputOf(),
  OTHER_MEDIA: inputOf(),
  REMOTE_MEDIA: inputOf(),
  PROVIDER_FILE: inputOf(),
  SAMPLING: { ...everywhere('temperature'), generate_content: 'generationConfig.temperature' },
  WIDE_SAMPLING: { ...everywhere('frequency_penalty'), generate_content: 'generationConfig.frequencyPenalty' },
  TOOL_RULES: everywhere('tools'),
  REASONING: reasoningOf(),
  REASONING_OFF: reasoningOf(),
  SEED: { ...everywhere('seed'), generate_content: 'generationConfig.seed' },
  MULTIPLE_CHOICES: { ...everywhere('n'), generate_content: 'generationConfig.candidateCount' },
  LOGPROBS: {
    'chat.completions': 'logprobs',
    responses: 'top_logprobs',
    generate_content: 'generationConfig.responseLogprobs',
  },
  MEDIA_OUTPUT: { ...everywhere('modalities'), generate_content: 'generationConfig.responseModalities' },
  PROVIDER_STATE: { ...everywhere('store'), generate_content: 'cachedContent' },
  SERVICE_TIER: { ...everywhere('service_tier'), generate_content: 'serviceTier' },
  TOKEN_INPUT: everywhere('input'),
  MULTIPLE_INPUTS: everywhere('input'),
};

/** Path of a feature inside an item, such as `request.stream`; `request` where no one member asks for it. */
export function featureField(endpoint: Endpoint, feature: Feature): string {
  const member = FIELDS[feature]?.[endpoint];
  return member === undefined ? 'request' : `request.${member}`;
}

export function hasFeature(features: number, feature: Feature): boolean {
  return (features & FEATURE[feature]) !== 0;
}

/** The feature of a public name such as `structured_output`, null for a name that is none. A fault is no feature. */
export function findFeature(name: string): Feature | null {
  return FEATURES.find((feature) => feature !== 'MALFORMED' && feature.toLowerCase() === name) ?? null;
}

function everywhere(member: string): { readonly [endpoint in Endpoint]: string } {
  return {
    'chat.completions': member,
    responses: member,
    messages: member,
    generate_content: member,
    embeddings: member,
    moderations: member,
  };
}

function inputOf(): { readonly [endpoint in Endpoint]: string } {
  return {
    'chat.completions': 'messages',
    responses: 'input',
    messages: 'messages',
    generate_content: 'contents',
    embeddings: 'input',
    moderations: 'input',
  };
}

function reasoningOf(): { readonly [endpoint in Endpoint]?: string } {
  return {
    'chat.completions': 'reasoning_effort',
    responses: 'reasoning.effort',
    messages: 'thinking',
    generate_content: 'generationConfig.thinkingConfig',
  };
}
