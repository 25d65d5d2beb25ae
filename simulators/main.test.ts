import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { expect, onTestFinished, test } from 'vitest';

test('prints one ready line, answers, and ends at SIGTERM', async () => {
  const settings = JSON.stringify({ openai: { maxLines: 9 } });
  const main = fileURLToPath(new URL('main.ts', import.meta.url));
  const ports = ['--openai-port', '0', '--anthropic-port', '0', '--gemini-port', '0', '--control-port', '0'];
  const child = spawn(process.execPath, [main, ...ports, '--settings', settings], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const [line] = (await once(child.stdout, 'data')) as [Buffer];
  const ready = JSON.parse(line.toString());
  expect(ready).toEqual({
    ready: true,
    openai_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+\/v1$/),
    anthropic_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    gemini_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
    control_url: expect.stringMatching(/^http:\/\/127\.0\.0\.1:\d+$/),
  });
  const shown = await fetch(`${ready.control_url}/control/settings`);
  expect(await shown.json()).toMatchObject({ openai: { maxLines: 9 } });
  child.kill('SIGTERM');
  expect(await once(child, 'exit')).toEqual([0, null]);
}, 20_000);
