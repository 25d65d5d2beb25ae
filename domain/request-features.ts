import type { Endpoint } from './provider.ts';

/** What a request asks for beyond plain text in, plain text out: one bit each, kept with every item. */
export const FEATURE = {
  /** The request has problems; the other bits may be incomplete. */
  MALFORMED: 1 << 0,
  MODEL_OVERRIDE: 1 << 1,
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
  /** Frequency or presence penalty, logit bias. */
  PENALTIES: 1 << 14,
  STOP: 1 << 15,
  REASONING: 1 << 16,
  /** Reasoning explicitly switched off, which some models refuse. */
  REASONING_OFF: 1 << 17,
  SEED: 1 << 18,
  MULTIPLE_CHOICES: 1 << 19,
  LOGPROBS: 1 << 20,
  MEDIA_OUTPUT: 1 << 21,
  /** State kept at the provider: stored replies, earlier responses, conversations, prompt templates, caches. */
  PROVIDER_STATE: 1 << 22,
  /** A speed or service tier other than the ordinary one. */
  SERVICE_TIER: 1 << 23,
  /** Input as token ids, which belong to one provider's tokenizer. */
  TOKEN_INPUT: 1 << 24,
  DIMENSIONS: 1 << 25,
  /** A top-level member this gateway does not know: it can be passed on, never translated. */
  UNKNOWN_FIELD: 1 << 26,
} as const;
export type Feature = keyof typeof FEATURE;

/** Where each endpoint asks for a feature, when that is one member; several are named by the first. */
const FIELDS: { readonly [feature in Feature]?: { readonly [endpoint in Endpoint]?: string } } = {
  MODEL_OVERRIDE: everywhere('model'),
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
  IMAGE_INPUT: inputOf(),
  DOCUMENT_INPUT: inputOf(),
  AUDIO_INPUT: inputOf(),
  VIDEO_INPUT: inputOf(),
  REMOTE_MEDIA: inputOf(),
  PROVIDER_FILE: inputOf(),
  SAMPLING: { ...everywhere('temperature'), generate_content: 'generationConfig.temperature' },
  PENALTIES: { ...everywhere('frequency_penalty'), generate_content: 'generationConfig.frequencyPenalty' },
  STOP: { 'chat.completions': 'stop', messages: 'stop_sequences', generate_content: 'generationConfig.stopSequences' },
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
  SERVICE_TIER: everywhere('service_tier'),
  TOKEN_INPUT: everywhere('input'),
  DIMENSIONS: everywhere('dimensions'),
};

/** Path of a feature inside an item, such as `request.stream`; `request` where no one member asks for it. */
export function featureField(endpoint: Endpoint, feature: Feature): string {
  const member = FIELDS[feature]?.[endpoint];
  return member === undefined ? 'request' : `request.${member}`;
}

export function hasFeature(features: number, feature: Feature): boolean {
  return (features & FEATURE[feature]) !== 0;
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
