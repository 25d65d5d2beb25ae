import { crc32, deflateSync } from 'node:zlib';
import { PDFDocument, StandardFonts } from 'pdf-lib';
import { expect, test } from 'vitest';
import { readInlineFile, textOfAttachments } from './attachments.ts';

function chunk(type: string, data: string | Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), Buffer.from(data)]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(body.length - 4);
  checksum.writeUInt32BE(crc32(body));
  return Buffer.concat([length, body, checksum]);
}

const PNG = Buffer.concat([
  Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'),
  chunk('IHDR', Buffer.alloc(13)),
  chunk('tEXt', 'Comment\0total: 1'),
  chunk('zTXt', Buffer.concat([Buffer.from('Comment\0\0'), deflateSync('total: 2')])),
  chunk('iTXt', 'Comment\0\0\0de\0Kommentar\0Größe: 3'),
  chunk('IEND', ''),
]);
const JPEG = Buffer.concat([
  Buffer.from([0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xfe, 0, 10]),
  Buffer.from('total: 4'),
  Buffer.from([0xff, 0xda, 0, 2]),
]);
const XMP = '<x:xmpmeta><dc:description>total: 5</dc:description></x:xmpmeta>';
const WEBP = Buffer.concat([
  Buffer.from('RIFF\0\0\0\0WEBPVP8 \x01\0\0\0x\0', 'latin1'),
  Buffer.from(`XMP ${String.fromCharCode(XMP.length)}\0\0\0${XMP}`, 'latin1'),
]);

test.for([
  { mediaType: 'image/png', bytes: PNG, text: 'total: 1\ntotal: 2\nGröße: 3' },
  { mediaType: 'image/jpeg', bytes: JPEG, text: 'total: 4' },
  { mediaType: 'image/webp', bytes: WEBP, text: 'total: 5' },
  { mediaType: 'image/png', bytes: PNG.subarray(0, 12), text: '' },
  { mediaType: 'image/gif', bytes: Buffer.from('GIF89a'), text: '' },
  { mediaType: 'text/csv', bytes: Buffer.from('a,b'), text: 'a,b' },
  { mediaType: 'application/pdf', bytes: Buffer.from('no PDF'), text: '' },
])('reads what stands beside the pixels, or in the text, of $mediaType', async ({ mediaType, bytes, text }) => {
  expect(await textOfAttachments([{ mediaType, bytes }])).toBe(text);
});

test('reads the pages of a PDF as lines, the cells of a table apart', async () => {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  const draw = (page: ReturnType<typeof pdf.addPage>, lines: [x: number, y: number, text: string][]) => {
    for (const [x, y, text] of lines) page.drawText(text, { x, y, size: 12, font });
  };
  draw(pdf.addPage(), [
    [200, 700, 'Total'],
    [20, 700, 'Item'],
    [20, 680, 'Long nails'],
    [200, 681, '12.50'],
  ]);
  draw(pdf.addPage(), [[20, 700, 'The end']]);
  const bytes = Buffer.from(await pdf.save());
  const text = await textOfAttachments([{ mediaType: 'application/pdf', bytes }]);
  expect(text).toBe('Item  Total\nLong nails  12.50\fThe end');
});

test('takes a file by its bytes alone', () => {
  expect(readInlineFile('data:Image/PNG;base64,AAEC', 'image/jpeg')).toEqual({
    mediaType: 'image/png',
    bytes: Buffer.from([0, 1, 2]),
  });
  expect(readInlineFile('AAEC', 'application/pdf')?.mediaType).toBe('application/pdf');
  expect(readInlineFile('https://example.com/a.png', 'image/jpeg')).toBeUndefined();
});
