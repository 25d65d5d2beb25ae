import fc from 'fast-check';
import { expect, test } from 'vitest';
import { createBodyScanner } from './body-scanner.ts';

interface Scanned {
  requests: unknown[] | undefined;
  others: Record<string, unknown>;
}

/** What a reader makes of a body that comes in these chunks; throws what scanner or parser throws. */
function scan(chunks: readonly Buffer[]): Scanned {
  const scanner = createBodyScanner('requests');
  const scanned: Scanned = { requests: undefined, others: {} };
  for (const found of chunks.flatMap((chunk) => scanner.push(chunk))) {
    if (found.kind === 'list') scanned.requests = [];
    else if (found.kind === 'element') scanned.requests?.push(JSON.parse(found.bytes.toString()));
    else
      Object.defineProperty(scanned.others, found.name, {
        value: JSON.parse(found.bytes.toString()),
        enumerable: true,
      });
  }
  scanner.end();
  return scanned;
}

function cutAt(body: Buffer, places: readonly number[]): Buffer[] {
  const cuts = [0, ...places.map((place) => place % (body.length + 1)).sort((a, b) => a - b), body.length];
  return cuts.slice(1).map((end, index) => body.subarray(cuts[index], end));
}

/** The members as pairs in the order of their names alone: a value may be an object that cannot become a text. */
function byName(members: Record<string, unknown>): [string, unknown][] {
  return Object.entries(members).sort(([one], [other]) => (one < other ? -1 : 1));
}

const json = fc.jsonValue();
const body = fc.record({
  before: fc.dictionary(fc.string(), json, { maxKeys: 2 }),
  requests: fc.array(json, { maxLength: 6 }),
  indent: fc.constantFrom(0, 1, '\t'),
  places: fc.array(fc.nat(), { maxLength: 20 }),
});

test('finds every element and member, wherever the chunks are cut', () => {
  fc.assert(
    fc.property(body, ({ before, requests, indent, places }) => {
      const { requests: _, ...others } = before;
      const text = Buffer.from(JSON.stringify({ ...others, requests }, null, indent));
      const scanned = scan(cutAt(text, places));
      expect(scanned.requests).toEqual(JSON.parse(JSON.stringify(requests)));
      expect(byName(scanned.others)).toEqual(byName(JSON.parse(JSON.stringify(others))));
    }),
    { numRuns: 500 },
  );
});

test('takes a body byte by byte', () => {
  const text = '{ "requests" : [ {"a":"x\\\\\\"]}"} , -1.5e3 ,"\\"" ,[ ] ] , "more":null }';
  expect(scan([...Buffer.from(text)].map((byte) => Buffer.of(byte)))).toEqual({
    requests: [{ a: 'x\\"]}' }, -1500, '"', []],
    others: { more: null },
  });
});

test('refuses every body that is cut short', () => {
  const text = Buffer.from('{"more":[1,2],"requests":[{"a":"]"},12]}');
  for (let length = 0; length < text.length; length += 1) {
    expect(() => scan([text.subarray(0, length)])).toThrow(SyntaxError);
  }
});

test('takes a damaged body exactly when a JSON parser does', () => {
  const damage = fc.record({
    requests: fc.array(json, { maxLength: 3 }),
    at: fc.nat(),
    put: fc.constantFrom('', ',', '"', '[', ']', '{', '}', ':', ' ', '\\', '1', 'x'),
  });
  fc.assert(
    fc.property(damage, ({ requests, at, put }) => {
      const whole = JSON.stringify({ requests, n: 1 });
      const place = at % whole.length;
      const text = whole.slice(0, place) + put + whole.slice(place + 1);
      const expected = outcomeOf(() => parsedObject(text));
      expect(outcomeOf(() => scan([Buffer.from(text)])) === 'refused').toBe(expected === 'refused');
    }),
    { numRuns: 2_000 },
  );
});

test.for([
  '',
  '[]',
  '1',
  '"requests"',
  '{}x',
  '{,}',
  '{"a":1,}',
  '{"a" 1}',
  '{1:2}',
  '{"requests":[1,]}',
  '{"requests":[,]}',
])('refuses %j', (text) => {
  expect(() => scan([Buffer.from(text)])).toThrow(SyntaxError);
});

test('tells an empty list from none, and gives one that is no list as a member', () => {
  expect(scan([Buffer.from('{"requests":[]}')]).requests).toEqual([]);
  expect(scan([Buffer.from(' {} \n')])).toEqual({ requests: undefined, others: {} });
  expect(scan([Buffer.from('{"requests":{"0":1}}')])).toEqual({ requests: undefined, others: { requests: { 0: 1 } } });
});

function parsedObject(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new SyntaxError('no object');
  return value;
}

function outcomeOf(read: () => unknown): unknown {
  try {
    return read();
  } catch (error) {
    if (error instanceof SyntaxError) return 'refused';
    throw error;
  }
}
