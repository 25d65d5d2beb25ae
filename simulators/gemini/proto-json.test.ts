import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type Message, readMessage, ShapeError } from './proto-json.ts';

const Inner: Message = { someName: 'string', innerList: { list: { message: () => Inner } } };
const Outer: Message = {
  aFlag: 'bool',
  aCount: 'int',
  aLong: 'int64',
  aNumber: 'number',
  anEnum: { enum: ['ONE', 'TWO'] },
  aMap: { map: 'string' },
  aStruct: 'struct',
  aValue: 'value',
  inner: { message: () => Inner },
};

test.for([
  {
    json: { a_flag: true, aCount: '3', a_long: 9, aNumber: '0.5' },
    read: { aFlag: true, aCount: 3, aLong: '9', aNumber: 0.5 },
  },
  { json: { aFlag: null, inner: null }, read: {} },
  { json: { inner: { inner_list: { some_name: 'x' } } }, read: { inner: { innerList: [{ someName: 'x' }] } } },
  {
    json: { aMap: { some_key: 'v' }, a_struct: { some_key: 1 } },
    read: { aMap: { some_key: 'v' }, aStruct: { some_key: 1 } },
  },
  { json: { aValue: [1, { a_b: 2 }] }, read: { aValue: [1, { a_b: 2 }] } },
])('reads $json', ({ json, read }) => {
  expect(readMessage(json, Outer)).toEqual(read);
});

test.for<{ json: unknown; message: string }>([
  { json: { nothing: 1 }, message: 'Invalid JSON payload received. Unknown name "nothing": Cannot find field.' },
  {
    json: { inner: { innerList: [{}, { other: 1 }] } },
    message: 'Unknown name "other" at \'inner.inner_list[1]\': Cannot find field.',
  },
  { json: { aFlag: 'true' }, message: 'Invalid value at \'a_flag\' (TYPE_BOOL), "true"' },
  { json: { aCount: 1.5 }, message: "Invalid value at 'a_count' (TYPE_INT32), 1.5" },
  { json: { aNumber: '' }, message: 'TYPE_FLOAT' },
  { json: { anEnum: 'THREE' }, message: "at 'an_enum'" },
  { json: { inner: { someName: {} } }, message: "Invalid value at 'inner' (some_name), Starting an object" },
  { json: { aStruct: [] }, message: 'TYPE_MESSAGE' },
  { json: { toString: 1 }, message: 'Unknown name "toString"' },
  { json: [], message: 'a JSON object is expected' },
])('refuses $json', ({ json, message }) => {
  expect(() => readMessage(json, Outer)).toThrow(message);
});

test('reads what it has read as the same again, and anything else it refuses', () => {
  fc.assert(
    fc.property(fc.dictionary(fc.constantFrom(...Object.keys(Outer), 'other'), fc.jsonValue()), (json) => {
      let once: object;
      try {
        once = readMessage(json, Outer);
      } catch (error) {
        expect(error).toBeInstanceOf(ShapeError);
        return;
      }
      expect(readMessage(once, Outer)).toEqual(once);
    }),
  );
});
