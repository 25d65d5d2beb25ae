import { expect, test } from 'vitest';
import { createFaults, type Fault, unknownKeys } from './faults.ts';

const fault = (more: Partial<Fault> = {}): Fault => ({
  provider: 'openai',
  route: 'batches.retrieve',
  action: { status: 500 },
  ...more,
});

/** Which calls of ten a script fires on, as the statuses it answers with. */
function fired(script: Fault[], facts: Record<string, unknown> = {}, route = 'batches.retrieve') {
  const faults = createFaults();
  faults.add(script);
  return Array.from({ length: 5 }, () => faults.take('openai', route, facts).status ?? 200);
}

test.for([
  { name: 'once when times is absent', script: [fault()], calls: [500, 200, 200, 200, 200] },
  { name: 'as often as times says', script: [fault({ times: 3 })], calls: [500, 500, 500, 200, 200] },
  { name: 'for ever', script: [fault({ times: 'always' })], calls: [500, 500, 500, 500, 500] },
  { name: 'after the calls it lets pass', script: [fault({ skip: 2 })], calls: [200, 200, 500, 200, 200] },
  {
    name: 'in the order of the script',
    script: [fault({ action: { status: 429 } }), fault({ times: 2 })],
    calls: [429, 500, 500, 200, 200],
  },
  {
    name: 'on the third call whatever an earlier fault did to the first',
    script: [fault({ action: { status: 429 } }), fault({ skip: 2 })],
    calls: [429, 200, 500, 200, 200],
  },
  { name: 'not on another route', script: [fault({ route: 'batches.create' })], calls: [200, 200, 200, 200, 200] },
  { name: 'not for another provider', script: [fault({ provider: 'gemini' })], calls: [200, 200, 200, 200, 200] },
  { name: 'on any HTTP route', script: [fault({ route: '*' })], calls: [500, 200, 200, 200, 200] },
] satisfies { name: string; script: Fault[]; calls: number[] }[])('fires $name', ({ script, calls }) => {
  expect(fired(script)).toEqual(calls);
});

test('leaves the moments that are no HTTP route to faults that name them', () => {
  expect(fired([fault({ route: '*' })], {}, 'batch:results')).toEqual([200, 200, 200, 200, 200]);
});

test.for([
  { match: { batch_id: 'batch_1' }, fires: true },
  { match: { batch_id: 'batch_2' }, fires: false },
  { match: { metadata: { token: 'abc' } }, fires: true },
  { match: { metadata: { token: '' } }, fires: true },
  { match: { metadata: { token: 'abd' } }, fires: false },
  { match: { metadata: { other: '' } }, fires: false },
  { match: { batch_id: 'batch_1', metadata: { token: 'xyz' } }, fires: false },
])('with match $match fires: $fires', ({ match, fires }) => {
  const facts = { batch_id: 'batch_1', metadata: { token: 'attempt-abc-1' } };
  expect(fired([fault({ match })], facts)[0]).toBe(fires ? 500 : 200);
});

test('lists what may still fire, and forgets it when cleared', () => {
  const faults = createFaults();
  faults.add([fault({ times: 2 }), fault({ route: 'files.create' })]);
  faults.take('openai', 'batches.retrieve', {});
  expect(faults.remaining().map(({ route, fired }) => ({ route, fired }))).toEqual([
    { route: 'batches.retrieve', fired: 1 },
    { route: 'files.create', fired: 0 },
  ]);
  faults.clear();
  expect(faults.take('openai', 'batches.retrieve', {})).toEqual({});
});

test('names the keys a route does not know', () => {
  expect(unknownKeys({ status: 500, crlf: true }, ['status', 'headers'])).toEqual(['crlf']);
});
