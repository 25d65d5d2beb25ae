import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import { newWebhookSecret, simulatorWebhooks } from './stack-webhooks.ts';

test('each secret is new, and one that both sides can read', () => {
  const [first, second] = [newWebhookSecret(), newWebhookSecret()];
  expect(first).not.toBe(second);
  const headers = { 'webhook-id': 'a', 'webhook-timestamp': String(Math.floor(Date.now() / 1000)) };
  const signature = new Webhook(first).sign('a', new Date(), '{}');
  expect(new Webhook(first).verify('{}', { ...headers, 'webhook-signature': signature })).toEqual({});
});

test('events go to the path of their provider at the api', () => {
  expect(simulatorWebhooks(8080, 'whsec_YQ==')).toEqual({
    openai: { webhookUrl: 'http://127.0.0.1:8080/provider-webhooks/openai', webhookSecret: 'whsec_YQ==' },
    gemini: { webhookUrl: 'http://127.0.0.1:8080/provider-webhooks/gemini', webhookSecret: 'whsec_YQ==' },
  });
});
