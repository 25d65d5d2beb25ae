import { createHash, randomBytes } from 'node:crypto';
import { crc32, deflateSync } from 'node:zlib';
import { PDFDocument, PDFHexString, PDFName, PDFString, StandardFonts } from 'pdf-lib';

/** A PDF of so many pages, each with a line of text; without a text its pages are blank, as those of a scan. */
export async function samplePdf({ pages = 1, text = 'Invoice 4711, total 12.50 EUR' } = {}): Promise<Uint8Array> {
  return (await drawPdf(pages, text)).save();
}

/**
 * A PDF encrypted by the standard handler (PDF 1.7, 7.6.3). Without a password anybody opens it, and may not do all with it;
 * with one nobody here can.
 */
export async function encryptedPdf({ hasPassword }: { readonly hasPassword: boolean }): Promise<Uint8Array> {
  const pdf = await drawPdf(1, 'secret');
  const id = randomBytes(16);
  const owner = randomBytes(32);
  const user = hasPassword ? randomBytes(32) : userEntry(owner, id);
  const { context } = pdf;
  const hex = (bytes: Buffer) => PDFHexString.of(bytes.toString('hex'));
  context.trailerInfo.Encrypt = context.obj({
    Filter: 'Standard',
    V: 1,
    R: 2,
    P: PERMISSIONS,
    O: hex(owner),
    U: hex(user),
  });
  context.trailerInfo.ID = context.obj([hex(id), hex(id)]);
  return pdf.save({ useObjectStreams: false });
}

/** A PDF of one page whose content is nothing but spaces, so many once they are unpacked. */
export async function bombPdf(unpackedBytes: number): Promise<Uint8Array> {
  const pdf = await PDFDocument.create();
  const page = pdf.addPage([200, 200]);
  const content = Buffer.from(deflateSync(Buffer.alloc(unpackedBytes, ' '), { level: 9 }));
  const stream = pdf.context.stream(content, { Filter: 'FlateDecode' });
  page.node.set(PDFName.of('Contents'), pdf.context.register(stream));
  return pdf.save({ useObjectStreams: false });
}

/** A PDF that runs a script and fetches from a URL once it is opened, where a reader lets it. */
export async function activePdf(url: string): Promise<Uint8Array> {
  const pdf = await drawPdf(1, 'Invoice 4711');
  const { context, catalog } = pdf;
  const script = `app.launchURL("${url}/script"); this.submitForm("${url}/form"); fetch("${url}/fetch");`;
  pdf.addJavaScript('main', script);
  catalog.set(PDFName.of('OpenAction'), context.obj({ S: 'URI', URI: PDFString.of(`${url}/action`) }));
  const [page] = pdf.getPages();
  const external = context.obj({ FS: 'URL', F: PDFString.of(`${url}/file`) });
  const image = context.stream(new Uint8Array(), {
    ...{ Type: 'XObject', Subtype: 'Image', Width: 1, Height: 1, BitsPerComponent: 8, ColorSpace: 'DeviceGray' },
    F: external,
  });
  page?.node.newXObject('Outside', context.register(image));
  const aa = context.obj({ O: { S: 'JavaScript', JS: PDFString.of(script) } });
  page?.node.set(PDFName.of('AA'), aa);
  return pdf.save({ useObjectStreams: false });
}

async function drawPdf(pages: number, text: string): Promise<PDFDocument> {
  const pdf = await PDFDocument.create();
  const font = await pdf.embedFont(StandardFonts.Helvetica);
  for (let page = 0; page < pages; page += 1) {
    const drawn = pdf.addPage([300, 300]);
    if (text !== '') drawn.drawText(text, { x: 20, y: 250, size: 12, font });
  }
  return pdf;
}

const PERMISSIONS = -44;
const PADDING = Buffer.from('28bf4e5e4e758a4164004e56fffa01082e2e00b6d0683e802f0ca9fe6453697a', 'hex');

/** Algorithms 2 and 4 for an empty user password. */
function userEntry(owner: Buffer, id: Buffer): Buffer {
  const permissions = Buffer.alloc(4);
  permissions.writeInt32LE(PERMISSIONS);
  const key = createHash('md5')
    .update(Buffer.concat([PADDING, owner, permissions, id]))
    .digest()
    .subarray(0, 5);
  return rc4(key, PADDING);
}

function rc4(key: Uint8Array, data: Uint8Array): Buffer {
  const state = Uint8Array.from({ length: 256 }, (_, index) => index);
  const at = (index: number) => state[index & 255] ?? 0;
  const swap = (one: number, other: number) => {
    const kept = at(one);
    state[one & 255] = at(other);
    state[other & 255] = kept;
  };
  for (let i = 0, j = 0; i < 256; i += 1) {
    j = (j + at(i) + (key[i % key.length] ?? 0)) & 255;
    swap(i, j);
  }
  let i = 0;
  let j = 0;
  const encrypted = Uint8Array.from(data, (byte) => {
    i = (i + 1) & 255;
    j = (j + at(i)) & 255;
    swap(i, j);
    return byte ^ at(at(i) + at(j));
  });
  return Buffer.from(encrypted);
}

/** A grey PNG. A header may tell of more pixels than there are. A text stands beside them, as in the other images. */
export function samplePng({
  width = 4,
  height = 3,
  data = deflateSync(Buffer.alloc((width + 1) * height)),
  text = '',
} = {}): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const signature = Buffer.from('89504e470d0a1a0a', 'hex');
  return Buffer.concat([
    signature,
    pngChunk('IHDR', header),
    ...(text === '' ? [] : [pngChunk('tEXt', Buffer.from(`Comment\0${text}`, 'latin1'))]),
    pngChunk('IDAT', data),
    pngChunk('IEND', Buffer.alloc(0)),
  ]);
}

function pngChunk(type: string, data: Buffer): Buffer {
  const named = Buffer.concat([Buffer.from(type), data]);
  const [length, checksum] = [Buffer.alloc(4), Buffer.alloc(4)];
  length.writeUInt32BE(data.length);
  checksum.writeUInt32BE(crc32(named));
  return Buffer.concat([length, named, checksum]);
}

/** A grey JPEG of 8 by 8 pixels: one block, whose only codes are "no difference" and "end of block". */
export function sampleJpeg(text = ''): Buffer {
  const table = (kind: number) => jpegSegment(0xc4, [kind, 1, ...Array<number>(15).fill(0), 0]);
  return Buffer.concat([
    Buffer.from([0xff, 0xd8]),
    ...(text === '' ? [] : [jpegSegment(0xfe, [...Buffer.from(text)])]),
    jpegSegment(0xdb, [0, ...Array<number>(64).fill(1)]),
    jpegSegment(0xc0, [8, 0, 8, 0, 8, 1, 1, 0x11, 0]),
    table(0x00),
    table(0x10),
    jpegSegment(0xda, [1, 1, 0, 0, 63, 0]),
    Buffer.from([0x3f, 0xff, 0xd9]),
  ]);
}

function jpegSegment(code: number, data: readonly number[]): Buffer {
  const length = data.length + 2;
  return Buffer.from([0xff, code, length >> 8, length & 255, ...data]);
}

/** A lossy WebP of one pixel. */
export function sampleWebp(text = ''): Buffer {
  const plain = Buffer.from('UklGRiIAAABXRUJQVlA4IBYAAAAwAQCdASoBAAEADsD+JaQAA3AAAAAA', 'base64');
  if (text === '') return plain;
  // Only the extended form has metadata: its first chunk says of which kind, and the size less one.
  const extended = Buffer.from([0x04, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  const chunks = [riffChunk('VP8X', extended), plain.subarray(12), riffChunk('XMP ', Buffer.from(text))];
  return riffChunk('RIFF', Buffer.concat([Buffer.from('WEBP'), ...chunks]));
}

function riffChunk(type: string, data: Buffer): Buffer {
  const length = Buffer.alloc(4);
  length.writeUInt32LE(data.length);
  return Buffer.concat([Buffer.from(type), length, data, Buffer.alloc(data.length % 2)]);
}
