import { expect, test } from 'vitest';
import { hideProviderIds } from './provider-ids.ts';

test.each([
  ['No such File object: file-8Hk2Lq9zXb31', 'No such File object: file-…'],
  ['limit reached for gpt-5 in organization org-a1b2c3d4e5.', 'limit reached for gpt-5 in organization org-….'],
  ['batch_67aa11bb22cc33dd and batch_req_5f0c88aa99ee', 'batch_… and batch_req_…'],
  ['see batches/9f8e7d6c5b4a for more', 'see batches/… for more'],
])('%s loses its id', (text, expected) => {
  expect(hideProviderIds(text)).toBe(expected);
});

test.each([
  'batch_expired',
  'file_not_found',
  'user_location',
  'key-value pairs',
  'Invalid value for messages[3].role',
])('the words of "%s" stay', (text) => {
  expect(hideProviderIds(text)).toBe(text);
});
