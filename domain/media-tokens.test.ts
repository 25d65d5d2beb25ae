import { describe, expect, test } from 'vitest';
import { Findings } from './findings.ts';
import { addMediaUrl } from './media-input.ts';
import { decodedBytes, estimateMediaTokens, mediaKindOf } from './media-tokens.ts';

test.each([
  ['image', 10, 1_600],
  ['image', 1_000_000, 4_000],
  ['document', 1_000_000, 50_000],
  ['audio', 1_000_000, 10_000],
  ['video', 10, 5_000],
] as const)('%s of %i bytes counts %i tokens', (kind, byteCount, tokens) => {
  expect(estimateMediaTokens(kind, byteCount)).toBe(tokens);
});

test.each(['image', 'document', 'audio', 'video'] as const)('%s of unknown size is more than the floor', (kind) => {
  expect(estimateMediaTokens(kind, null)).toBeGreaterThan(estimateMediaTokens(kind, 0));
});

test.each([
  ['image/png', 'image'],
  ['Audio/mpeg', 'audio'],
  ['video/mp4', 'video'],
  ['application/pdf', 'document'],
  ['text/csv', 'document'],
  ['', 'document'],
])('%s is of kind %s', (mediaType, kind) => {
  expect(mediaKindOf(mediaType)).toBe(kind);
});

test('four characters of base64 are three bytes', () => {
  expect([0, 4, 1_000_000].map(decodedBytes)).toEqual([0, 3, 750_000]);
});

describe('addMediaUrl', () => {
  const tokensOf = (url: string) => {
    const findings = new Findings();
    addMediaUrl('image', url, 'request', findings);
    return findings.inputTokens;
  };

  test('counts a data URL by its size and its own media type', () => {
    expect(tokensOf(`data:image/png;base64,${'A'.repeat(1_000_000)}`)).toBeGreaterThanOrEqual(3_000);
    expect(tokensOf(`data:application/pdf;base64,${'A'.repeat(1_000_000)}`)).toBeGreaterThanOrEqual(37_500);
    expect(tokensOf(`data:,${'A'.repeat(1_000_000)}`)).toBeGreaterThanOrEqual(3_000);
    expect(tokensOf(`data:${'A'.repeat(1_000_000)}`)).toBeGreaterThanOrEqual(3_000);
  });

  test('assumes a size of any other URL', () => {
    expect(tokensOf('https://example.com/a.png')).toBe(estimateMediaTokens('image', null));
  });
});
