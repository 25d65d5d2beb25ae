import { expect, test } from 'vitest';
import { createProviders } from './registry.ts';

const timeouts = { requestTimeoutMs: 1000, idleTimeoutMs: 1000 };

test('holds an adapter for each provider that is set up, under its own name', () => {
  const providers = createProviders({ ...timeouts, openai: { apiKey: 'sk-test', baseUrl: null } });
  expect([...providers].map(([name, { provider }]) => [name, provider])).toEqual([['openai', 'openai']]);
  expect(createProviders({ ...timeouts, openai: null }).size).toBe(0);
});
