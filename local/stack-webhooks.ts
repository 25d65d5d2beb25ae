import { randomBytes } from 'node:crypto';

/** What a simulator needs to tell the api of its batches. */
interface SimulatorWebhook {
  webhookUrl: string;
  webhookSecret: string;
}

/** Anthropic has no events of batches. */
export interface SimulatorWebhooks {
  openai: SimulatorWebhook;
  gemini: SimulatorWebhook;
}

/** Nobody outside a stack needs it, so each start makes its own. */
export function newWebhookSecret(): string {
  return `whsec_${randomBytes(32).toString('base64')}`;
}

/** Settings with which simulators send their events to the api on `apiPort`. */
export function simulatorWebhooks(apiPort: number, webhookSecret: string): SimulatorWebhooks {
  const url = (provider: string) => `http://127.0.0.1:${apiPort}/provider-webhooks/${provider}`;
  return {
    openai: { webhookUrl: url('openai'), webhookSecret },
    gemini: { webhookUrl: url('gemini'), webhookSecret },
  };
}
