import { ContentField, SafetySettingField, SchemaField } from './content-messages.ts';
import type { FieldType, Message } from './proto-json.ts';

const message = (fields: Message): FieldType => ({ message: () => fields });

const ToolField = message({
  functionDeclarations: {
    list: message({
      name: 'string',
      description: 'string',
      behavior: { enum: ['UNSPECIFIED', 'BLOCKING', 'NON_BLOCKING'] },
      parameters: SchemaField,
      parametersJsonSchema: 'value',
      response: SchemaField,
      responseJsonSchema: 'value',
    }),
  },
  googleSearch: 'struct',
  googleSearchRetrieval: 'struct',
  codeExecution: 'struct',
  urlContext: 'struct',
  fileSearch: 'struct',
  googleMaps: 'struct',
  computerUse: 'struct',
  mcpServers: { list: 'struct' },
});

const ToolConfigField = message({
  functionCallingConfig: message({
    mode: { enum: ['MODE_UNSPECIFIED', 'AUTO', 'ANY', 'NONE', 'VALIDATED'] },
    allowedFunctionNames: { list: 'string' },
  }),
  retrievalConfig: 'struct',
  includeServerSideToolInvocations: 'bool',
});

const GenerationConfigField = message({
  temperature: 'number',
  topP: 'number',
  topK: 'number',
  candidateCount: 'int',
  maxOutputTokens: 'int',
  stopSequences: { list: 'string' },
  responseLogprobs: 'bool',
  logprobs: 'int',
  presencePenalty: 'number',
  frequencyPenalty: 'number',
  seed: 'int',
  responseMimeType: 'string',
  responseSchema: SchemaField,
  responseJsonSchema: 'value',
  responseModalities: { list: { enum: ['MODALITY_UNSPECIFIED', 'TEXT', 'IMAGE', 'AUDIO'] } },
  mediaResolution: { enum: ['UNSPECIFIED', 'LOW', 'MEDIUM', 'HIGH'].map((name) => `MEDIA_RESOLUTION_${name}`) },
  speechConfig: 'struct',
  thinkingConfig: message({
    includeThoughts: 'bool',
    thinkingBudget: 'int',
    thinkingLevel: { enum: ['THINKING_LEVEL_UNSPECIFIED', 'MINIMAL', 'LOW', 'MEDIUM', 'HIGH', 'XHIGH'] },
  }),
  audioTranscriptionConfig: 'struct',
  imageConfig: 'struct',
  enableEnhancedCivicAnswers: 'bool',
});

/** GenerateContentRequest (Gemini API reference; @google/genai SDK types as they go over the wire). */
const GenerateContentRequest: Message = {
  model: 'string',
  systemInstruction: ContentField,
  contents: { list: ContentField },
  tools: { list: ToolField },
  toolConfig: ToolConfigField,
  safetySettings: { list: SafetySettingField },
  generationConfig: GenerationConfigField,
  cachedContent: 'string',
  labels: { map: 'string' },
  serviceTier: 'string',
  store: 'bool',
  continuationToken: 'string',
};

/** EmbedContentRequest (Gemini API reference). */
const EmbedContentRequest: Message = {
  model: 'string',
  content: ContentField,
  taskType: 'string',
  title: 'string',
  outputDimensionality: 'int',
};

export const REQUESTS = { generate: GenerateContentRequest, embed: EmbedContentRequest } as const;

/** `batch` of a create, its inline requests not yet looked into. */
export const BatchMessage: Message = {
  name: 'string',
  model: 'string',
  displayName: 'string',
  inputConfig: message({ fileName: 'string', requests: message({ requests: { list: 'struct' } }) }),
  priority: 'int64',
  webhookConfig: message({ uris: { list: 'string' }, userMetadata: 'struct' }),
};

/** What stands around one inline request. */
export const InlinedRequest: Message = { request: 'struct', metadata: 'struct' };
