import { expect, test } from 'vitest';
import { DEFAULT_ALIASES } from './default-aliases.ts';
import { createGatewayCatalogue } from './gateway-catalogue.ts';
import { TASK_TYPES } from './task.ts';
import { DEFAULT_MODEL_OF, findTaskModel } from './task-model.ts';

const catalogue = createGatewayCatalogue({
  anthropicApiVersion: '2026-10-21',
  regions: { openai: 'global', anthropic: 'global', gemini: 'global' },
  configured: [],
});
const facts = { aliases: DEFAULT_ALIASES, catalogue, jobId: 'task_1' };

test.each(TASK_TYPES)('%s without a model runs on its own alias, which leads to its provider alone', (taskType) => {
  const { name, provider, aliases } = findTaskModel({ taskType, model: undefined }, facts);
  expect(name).toBe(DEFAULT_MODEL_OF[taskType]);
  expect(provider).toBe(taskType.toLowerCase());
  expect(aliases[name]?.map((target) => target.provider)).toEqual([provider]);
});

test('of an alias no more is left than its targets at the type’s provider; others stay as they are', () => {
  const found = findTaskModel({ taskType: 'ANTHROPIC', model: 'analysis-large' }, facts);
  expect(found.aliases['analysis-large']?.map(({ provider }) => provider)).toEqual(['anthropic']);
  expect(found.aliases['analysis-small']).toBe(DEFAULT_ALIASES['analysis-small']);
});

test.each(['gpt-5.6-luna', 'openai/gpt-5.6-luna', 'openai/anything'])('%s is a model of OPENAI', (model) => {
  expect(findTaskModel({ taskType: 'OPENAI', model }, facts)).toMatchObject({ name: model, provider: 'openai' });
});

test.each([
  ['moderation', 'GEMINI', 'invalid_request'],
  ['gpt-5.6-luna', 'ANTHROPIC', 'invalid_request'],
  ['nonsense', 'OPENAI', 'model_unknown'],
  ['toString', 'OPENAI', 'model_unknown'],
] as const)('%s for %s is %s, and names payload.model', (model, taskType, code) => {
  let thrown: unknown;
  try {
    findTaskModel({ taskType, model }, facts);
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code, field: 'payload.model' });
});
