import { expect, test } from 'vitest';
import { csvRecord } from './csv.ts';

test('quotes what needs it, leaves null empty, and ends with CRLF', () => {
  expect(csvRecord(['a', 1, true, null, 'x,y', 'say "hi"', 'a\nb'])).toBe('a,1,true,,"x,y","say ""hi""","a\nb"\r\n');
});

test.each(['=1+1', '+1', '-1', '@x', '\tx', '\rx', '\nx', '＝1'])('keeps a spreadsheet from running %j', (text) => {
  expect(csvRecord([text])).toContain(`'${text}`);
});

test('leaves negative numbers alone', () => {
  expect(csvRecord([-1])).toBe('-1\r\n');
});
