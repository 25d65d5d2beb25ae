import { expect, test } from 'vitest';
import { mergeRequestDefaults } from './merge-defaults.ts';

const SYSTEM = { role: 'system', content: 'Be brief.' };
const USER = { role: 'user', content: 'Hello' };

test.each([
  ['fills in what the item leaves out', { temperature: 0 }, { a: 1 }, { temperature: 0, a: 1 }],
  ['lets the item win', { temperature: 0 }, { temperature: 1 }, { temperature: 1 }],
  ['lets the item win with null', { temperature: 0 }, { temperature: null }, { temperature: null }],
  [
    'does not merge objects into each other',
    { generationConfig: { temperature: 0, seed: 1 } },
    { generationConfig: { temperature: 1 } },
    { generationConfig: { temperature: 1 } },
  ],
  ['replaces lists other than messages', { stop: ['a'] }, { stop: ['b'] }, { stop: ['b'] }],
  [
    'puts the messages of the defaults first',
    { messages: [SYSTEM] },
    { messages: [USER] },
    { messages: [SYSTEM, USER] },
  ],
  ['keeps the messages of either alone', { messages: [SYSTEM] }, {}, { messages: [SYSTEM] }],
  ['leaves malformed messages to be reported', { messages: [SYSTEM] }, { messages: 'hi' }, { messages: 'hi' }],
])('%s', (_what, defaults, request, merged) => {
  const [defaultsBefore, requestBefore] = [structuredClone(defaults), structuredClone(request)];
  expect(mergeRequestDefaults(defaults, request)).toEqual(merged);
  expect([defaults, request]).toEqual([defaultsBefore, requestBefore]);
});

test('takes a member named __proto__ for what it is', () => {
  const merged = mergeRequestDefaults({}, JSON.parse('{"__proto__":{"stream":true}}'));
  expect(merged['stream']).toBeUndefined();
  expect(Object.hasOwn(merged, '__proto__')).toBe(true);
});
