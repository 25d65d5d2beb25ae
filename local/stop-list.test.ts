import { expect, test } from 'vitest';
import { createStopList } from './stop-list.ts';

test('stops in reverse order, once, past one that fails', async () => {
  const said: string[] = [];
  const list = createStopList((line) => said.push(line));
  const stopped: string[] = [];
  list.add('postgres', () => {
    stopped.push('postgres');
  });
  list.add('temporal', () => {
    throw new Error('it hangs');
  });
  list.add('api', async () => {
    stopped.push('api');
  });
  await Promise.all([list.stopAll(), list.stopAll()]);
  expect(stopped).toEqual(['api', 'postgres']);
  expect(said).toEqual(['could not stop temporal: it hangs']);
});
