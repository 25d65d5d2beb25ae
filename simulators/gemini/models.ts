import { refusal } from './errors.ts';

const GENERATES = ['generateContent', 'countTokens', 'createCachedContent', 'batchGenerateContent'];
const EMBEDS = ['embedContent', 'countTextTokens', 'countTokens', 'asyncBatchEmbedContent'];
const MODELS = [
  'gemini-3.8-flash',
  'gemini-3.6-flash',
  'gemini-3.1-pro-preview',
  'gemini-3.1-flash-lite',
  'gemini-2.5-pro',
  'gemini-2.5-flash',
  'gemini-2.5-flash-lite',
  'gemini-embedding-001',
  'gemini-embedding-2',
];

export type ModelTask = 'generate' | 'embed';

/** A model with `embedding` in its id embeds, any other generates. */
function taskOf(model: string): ModelTask {
  return model.includes('embedding') ? 'embed' : 'generate';
}

/** One entry of `GET /v1beta/models` (Gemini API reference, models). */
function modelView(model: string) {
  const isEmbedding = taskOf(model) === 'embed';
  return {
    name: `models/${model}`,
    version: '001',
    displayName: model,
    description: `A simulation of ${model}`,
    inputTokenLimit: isEmbedding ? 2_048 : 1_048_576,
    outputTokenLimit: isEmbedding ? 1 : 65_536,
    supportedGenerationMethods: isEmbedding ? EMBEDS : GENERATES,
    ...(!isEmbedding && { temperature: 1, topP: 0.95, topK: 64, maxTemperature: 2, thinking: true }),
  };
}

export const modelViews = () => MODELS.map(modelView);

/** Any model id is taken, unless it begins with `unknown-` or the model cannot do the task. */
export function isSupported(model: string, task: ModelTask): boolean {
  return !model.startsWith('unknown-') && taskOf(model) === task;
}

export function requireModel(model: string, task: ModelTask, method: string): string {
  if (isSupported(model, task)) return model;
  throw refusal('NOT_FOUND', unsupported(model, method));
}

export function unsupported(model: string, method: string): string {
  return (
    `models/${model} is not found for API version v1beta, or is not supported for ${method}. ` +
    'Call ModelService.ListModels to see the list of available models and their supported methods.'
  );
}
