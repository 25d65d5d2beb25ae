import { expect, test } from 'vitest';
import { GroupTally, MAX_MODELS, type TallyItem } from './group-tally.ts';

const ITEM: TallyItem = {
  requestedModel: null,
  features: 0,
  inputTokens: 10,
  maxOutputTokens: 5,
  choices: 1,
  bodyBytes: 100,
};

function tally(...items: readonly Partial<TallyItem>[]) {
  const groups = new GroupTally();
  for (const item of items) groups.add({ ...ITEM, ...item });
  return groups.groups();
}

test('items of one kind are one group with sums and the largest', () => {
  expect(tally({}, { inputTokens: 15, bodyBytes: 300 }, { maxOutputTokens: null, bodyBytes: 50 })).toEqual([
    {
      requestedModel: '',
      features: 0,
      tokenClass: 3,
      items: 3,
      bytes: 450,
      largestBytes: 300,
      inputTokens: 35,
      outputTokens: 10,
      uncappedItems: 1,
    },
  ]);
});

test.each([
  [0, 0],
  [1, 0],
  [2, 1],
  [3, 1],
  [4, 2],
  [1023, 9],
  [1024, 10],
  [2 ** 31 - 1, 30],
])('an item of %i tokens is of class %i', (inputTokens, tokenClass) => {
  expect(tally({ inputTokens })[0]?.tokenClass).toBe(tokenClass);
});

test('model, features and class each part groups', () => {
  const kinds = [{}, { requestedModel: 'm' }, { features: 1 }, { features: 1 << 26 }, { inputTokens: 100 }];
  expect(tally(...kinds, ...kinds).map((group) => group.items)).toEqual([2, 2, 2, 2, 2]);
});

test('more models than a job may name are refused, as are too many kinds', () => {
  const models = Array.from({ length: MAX_MODELS + 1 }, (_, index) => ({ requestedModel: `m${index}` }));
  expect(tally(...models.slice(0, MAX_MODELS)).length).toBe(MAX_MODELS);
  expect(() => tally(...models)).toThrow(
    expect.objectContaining({ code: 'invalid_request', field: 'items[*].request.model' }),
  );
  const kinds = Array.from({ length: 10_001 }, (_, features) => ({ features }));
  expect(() => tally(...kinds)).toThrow(expect.objectContaining({ code: 'invalid_request' }));
});
