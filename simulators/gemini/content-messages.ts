import type { FieldType, Message } from './proto-json.ts';

const HARM_CATEGORIES = [
  'HARASSMENT',
  'HATE_SPEECH',
  'SEXUALLY_EXPLICIT',
  'DANGEROUS_CONTENT',
  'CIVIC_INTEGRITY',
  'JAILBREAK',
  'UNSPECIFIED',
].map((name) => `HARM_CATEGORY_${name}`);
const THRESHOLDS = [
  'HARM_BLOCK_THRESHOLD_UNSPECIFIED',
  'BLOCK_LOW_AND_ABOVE',
  'BLOCK_MEDIUM_AND_ABOVE',
  'BLOCK_ONLY_HIGH',
  'BLOCK_NONE',
  'OFF',
];

const message = (fields: Message): FieldType => ({ message: () => fields });

/** The OpenAPI subset of `responseSchema` and of function `parameters`; JSON schema has fields of its own. */
const Schema: Message = {
  type: { enum: ['TYPE_UNSPECIFIED', 'STRING', 'NUMBER', 'INTEGER', 'BOOLEAN', 'ARRAY', 'OBJECT', 'NULL'] },
  format: 'string',
  title: 'string',
  description: 'string',
  nullable: 'bool',
  enum: { list: 'string' },
  items: { message: () => Schema },
  maxItems: 'int64',
  minItems: 'int64',
  properties: { map: { message: () => Schema } },
  required: { list: 'string' },
  minProperties: 'int64',
  maxProperties: 'int64',
  minimum: 'number',
  maximum: 'number',
  minLength: 'int64',
  maxLength: 'int64',
  pattern: 'string',
  example: 'value',
  anyOf: { list: { message: () => Schema } },
  propertyOrdering: { list: 'string' },
  default: 'value',
};
export const SchemaField: FieldType = message(Schema);

/** The fields of a part of which exactly one holds its data. */
export const PART_DATA = {
  text: 'string',
  inlineData: message({ mimeType: 'string', data: 'bytes', displayName: 'string' }),
  fileData: message({ mimeType: 'string', fileUri: 'string', displayName: 'string' }),
  functionCall: message({ id: 'string', name: 'string', args: 'struct' }),
  functionResponse: message({
    id: 'string',
    name: 'string',
    response: 'struct',
    parts: { list: 'struct' },
    willContinue: 'bool',
    scheduling: 'string',
  }),
  executableCode: message({ id: 'string', language: 'string', code: 'string' }),
  codeExecutionResult: message({ id: 'string', outcome: 'string', output: 'string' }),
  toolCall: 'struct',
  toolResponse: 'struct',
  audioTranscription: 'struct',
} satisfies Message;

const Part: Message = {
  ...PART_DATA,
  thought: 'bool',
  thoughtSignature: 'bytes',
  videoMetadata: 'struct',
  partMetadata: 'struct',
  mediaResolution: message({
    level: { enum: ['UNSPECIFIED', 'LOW', 'MEDIUM', 'HIGH', 'ULTRA_HIGH'].map((name) => `MEDIA_RESOLUTION_${name}`) },
    numTokens: 'int',
  }),
  mediaProcessing: 'struct',
  speechMetadata: 'struct',
};

export const ContentField: FieldType = message({ role: 'string', parts: { list: message(Part) } });

export const SafetySettingField: FieldType = message({
  category: { enum: HARM_CATEGORIES },
  threshold: { enum: THRESHOLDS },
});
