import { hash } from 'node:crypto';
import { describe, expect, test } from 'vitest';
import type { DocumentLimits } from '../domain/document-facts.ts';
import { recognise } from './recognise.ts';
import { encryptedPdf, sampleJpeg, samplePdf, samplePng, sampleWebp } from './testing/sample-files.ts';

const LIMITS: DocumentLimits = { maxBytes: 1_000_000, maxPages: 3, maxPixels: 1_000 };

const seen = async (bytes: Uint8Array | string) => {
  const recognition = await recognise(typeof bytes === 'string' ? Buffer.from(bytes) : bytes, LIMITS);
  return recognition.kind === 'fault' ? recognition.fault : recognition.facts;
};

function utf16(text: string, { isBigEndian = false } = {}): Buffer {
  const little = Buffer.from(`\ufeff${text}`, 'utf16le');
  return isBigEndian ? little.swap16() : little;
}

describe('a PDF', () => {
  test('is known by its content, with its pages and the tokens of its text', async () => {
    const facts = { mediaType: 'application/pdf', pages: 2, textTokens: expect.any(Number), width: null, height: null };
    expect(await seen(await samplePdf({ pages: 2 }))).toEqual(facts);
    const one = await seen(await samplePdf({ pages: 1 }));
    const two = await seen(await samplePdf({ pages: 2 }));
    if (typeof one === 'string' || typeof two === 'string') throw new Error('not recognised');
    expect(one.textTokens).toBeGreaterThan(5);
    expect(two.textTokens).toBe((one.textTokens ?? 0) * 2);
  });

  test('may have white space before its header, as some scanners write it', async () => {
    for (const before of ['\r\n', ' \t\n'.repeat(50)]) {
      const bytes = Uint8Array.from([...Buffer.from(before), ...(await samplePdf({ pages: 2 }))]);
      expect(await seen(bytes)).toMatchObject({ mediaType: 'application/pdf', pages: 2 });
    }
    expect(await seen('The header of a PDF is %PDF-1.7, and so on.')).toMatchObject({ mediaType: 'text/plain' });
  });

  test('without text, such as a scan, has none', async () => {
    expect(await seen(await samplePdf({ text: '' }))).toMatchObject({ pages: 1, textTokens: 0 });
  });

  test('that needs a password, or says what may be done with it, is encrypted', async () => {
    expect(await seen(await encryptedPdf({ hasPassword: true }))).toBe('encrypted');
    expect(await seen(await encryptedPdf({ hasPassword: false }))).toBe('encrypted');
  });

  test('that is cut short at any place is corrupt', async () => {
    const whole = await samplePdf({ pages: 2 });
    for (const share of [0.1, 0.5, 0.9]) {
      expect(await seen(whole.subarray(0, Math.floor(whole.length * share)))).toBe('corrupt');
    }
    expect(await seen('%PDF-1.7\nnothing\n%%EOF\n')).toBe('corrupt');
  });

  test('of more pages than the limit is refused', async () => {
    expect(await seen(await samplePdf({ pages: 3 }))).toMatchObject({ pages: 3 });
    expect(await seen(await samplePdf({ pages: 4 }))).toBe('too_many_pages');
  });
});

describe('an image', () => {
  test.each([
    ['image/png', samplePng(), 4, 3],
    ['image/jpeg', sampleJpeg(), 8, 8],
    ['image/webp', sampleWebp(), 1, 1],
  ] as const)('of %s is known with its size', async (mediaType, bytes, width, height) => {
    expect(await seen(bytes)).toEqual({ mediaType, pages: null, textTokens: null, width, height });
  });

  test.each([
    ['PNG', samplePng()],
    ['JPEG', sampleJpeg()],
    ['WebP', sampleWebp()],
  ] as const)('%s cut short at any byte is no document', async (_, bytes) => {
    for (let length = 20; length < bytes.length; length += 1) {
      expect([length, typeof (await seen(bytes.subarray(0, length)))]).toEqual([length, 'string']);
    }
    const most = bytes.subarray(0, bytes.length - 2);
    expect(await seen(most)).toBe('corrupt');
  });

  test('PNG with a changed byte is corrupt', async () => {
    const bytes = samplePng();
    bytes[45] = (bytes[45] ?? 0) ^ 1;
    expect(await seen(bytes)).toBe('corrupt');
  });

  test('of more pixels than the limit is refused by its header', async () => {
    expect(await seen(samplePng({ width: 50, height: 21, data: Buffer.from('x') }))).toBe('too_many_pixels');
  });
});

describe('a text', () => {
  test.each([
    ['a comma', 'date,total\n2026-01-01,5\n2026-01-02,6\n'],
    ['a semicolon', 'date;total\r\n2026-01-01;"5,0;1"\r\n'],
    ['a tab', 'a\tb\tc\n1\t2\t3\n'],
    ['quoted line breaks', 'a,b\n"one\ntwo",3\n'],
  ])('with columns parted by %s is CSV', async (_, text) => {
    expect(await seen(text)).toMatchObject({ mediaType: 'text/csv', textTokens: expect.any(Number) });
  });

  test('that is longer than what is looked at is CSV too', async () => {
    expect(await seen('a,b\n'.repeat(200_000))).toMatchObject({ mediaType: 'text/csv' });
    expect(await seen(`a,"b\n${'long text '.repeat(50_000)}"\n1,2\n`)).toMatchObject({ mediaType: 'text/plain' });
  });

  test.each([
    ['prose', 'Dear all,\nthe total is 5, or 6, we think.\nYours'],
    ['one line', 'a,b,c'],
    ['open quotes', 'a,b\n"c,d\n'],
  ])('of %s is plain', async (_, text) => {
    expect(await seen(text)).toMatchObject({ mediaType: 'text/plain' });
  });

  test('may be UTF-8 or UTF-16 with a byte order mark', async () => {
    const text = 'Größe: 5 €';
    for (const bytes of [
      Buffer.from(text),
      Buffer.from(`\ufeff${text}`),
      utf16(text),
      utf16(text, { isBigEndian: true }),
    ])
      expect(await seen(bytes)).toMatchObject({ mediaType: 'text/plain' });
  });

  test.each(['BM', 'GIF', 'MZ', 'FORM', 'ID3', '8BPS', 'solid', 'fLaC', 'MThd', 'OggS', '!<arch>', '070707'])(
    'that begins like a binary file, with %s, is a text all the same',
    async (begin) => {
      expect(await seen(`${begin},total\n${'1,2\n'.repeat(200)}`)).toMatchObject({ mediaType: 'text/csv' });
      expect(await seen(`${begin} is what it begins with.\n`.repeat(20))).toMatchObject({ mediaType: 'text/plain' });
    },
  );

  test.each([
    ['RTF', '{\\rtf1\\ansi Total 5}'],
    ['PostScript', '%!PS-Adobe-3.0\n(Total 5) show\n'],
    ['a calendar', 'BEGIN:VCALENDAR\nEND:VCALENDAR\n'],
    ['an encrypted message', '-----BEGIN PGP MESSAGE-----\n\nhQ\n-----END PGP MESSAGE-----\n'],
  ])('in the format of %s is unsupported', async (_, text) => {
    expect(await seen(text)).toBe('unsupported');
  });

  test.each([
    ['Latin-1', Buffer.from('Größe', 'latin1')],
    ['UTF-16 without a mark', utf16('Größe').subarray(2)],
    ['half of a UTF-16 character', utf16('Größe').subarray(0, 5)],
    ['a NUL', Buffer.from('a\0b')],
  ])('in %s is unsupported', async (_, bytes) => {
    expect(await seen(bytes)).toBe('unsupported');
  });

  test.each([
    ['nothing', ''],
    ['white space', ' \n\t '],
    ['a byte order mark', '\ufeff'],
  ])('of %s is empty', async (_, text) => {
    expect(await seen(text)).toBe('empty');
  });
});

test.each([
  ['a zip', Buffer.from('504b0304140000000000', 'hex')],
  ['a GIF', Buffer.from('474946383961010001000000', 'hex')],
  ['XML', Buffer.from('<?xml version="1.0"?><a/>')],
  ['noise', Buffer.from(hash('sha512', 'noise'), 'hex')],
])('%s is unsupported', async (_, bytes) => {
  expect(await seen(bytes)).toBe('unsupported');
});
