import { chmodSync, mkdirSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { closedFolder } from './postgres-user.ts';

let root: string;
let owner: { uid: number; gid: number };
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'batchgate-user-'));
  mkdirSync(join(root, 'project', 'data'), { recursive: true });
  owner = statSync(root);
});
afterEach(() => rmSync(root, { recursive: true }));

const STRANGER = { uid: 64_321, gid: 64_321 };

test.each([
  [0o700, 'stranger', true],
  [0o711, 'stranger', false],
  [0o700, 'owner', false],
  [0o070, 'owner', true],
  [0o710, 'group', false],
  [0o701, 'group', true],
] as const)('a folder of mode %o is closed to the %s: %s', (mode, who, closed) => {
  const users = { stranger: STRANGER, owner, group: { uid: STRANGER.uid, gid: owner.gid } };
  chmodSync(root, mode);
  expect(closedFolder(join(root, 'project'), users[who])).toBe(closed ? root : undefined);
});

test('names the outermost closed folder', () => {
  chmodSync(join(root, 'project'), 0o700);
  chmodSync(root, 0o700);
  expect(closedFolder(join(root, 'project', 'data'), STRANGER)).toBe(root);
});
