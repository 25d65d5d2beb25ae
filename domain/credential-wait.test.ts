import { expect, test } from 'vitest';
import { credentialWaitEnds } from './credential-wait.ts';

const HOUR_MS = 3_600_000;
const at = (hour: number) => new Date(hour * HOUR_MS);

test.each([
  ['nothing was sent', null, 2],
  ['the batch had ended', { endedAt: at(1), expiresAt: at(24), sentAt: at(0) }, 2],
  ['no end was seen', { endedAt: null, expiresAt: at(24), sentAt: at(0) }, 24],
  ['the provider told no end of its window', { endedAt: null, expiresAt: null, sentAt: at(0) }, 24],
  ['the window was over', { endedAt: null, expiresAt: at(1), sentAt: at(0) }, 2],
])('where %s a refusal at hour 2 is waited out from its own hour on', (_what, batch, begins) => {
  expect(credentialWaitEnds({ since: at(2), batch }, 5 * HOUR_MS)).toEqual(at(begins + 5));
});
