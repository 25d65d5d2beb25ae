import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { GoogleGenAI } from '@google/genai';
import { OpenAI } from 'openai';
import { expect, onTestFinished, test } from 'vitest';
import type { WebhookDelivery, WebhookVerifier } from '../../providers/webhook-verifier.ts';
import { createWebhookVerifiers, type WebhookSettings } from '../../providers/webhooks.ts';
import { createControl } from '../../simulators/control-client.ts';
import type { Fault } from '../../simulators/faults.ts';
import { startSimulators } from '../../simulators/start.ts';
import { eventually } from '../harness/eventually.ts';

const SECRET = 'whsec_YSBzZWNyZXQgb2YgdGhlIHRlc3Rz';
const QUICK = {
  openai: { validatingMs: 0, inProgressMs: 0, finalizingMs: 0 },
  gemini: { pendingMs: 0, runningMs: 0 },
};
const MODEL = 'gemini-2.5-flash';

/** Receives deliveries, and asks for them again until the fourth. */
async function startReceiver() {
  const received: WebhookDelivery[] = [];
  const server = createServer(async (request, response) => {
    const body = new Uint8Array(await buffer(request));
    received.push({ headers: toHeaders(request.headers), body });
    response.writeHead(received.length < 4 ? 500 : 200).end();
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo;
  return { url: `http://127.0.0.1:${port}/hook`, received };
}

function toHeaders(headers: IncomingHttpHeaders): Headers {
  return new Headers(Object.entries(headers).map(([name, value]): [string, string] => [name, String(value)]));
}

async function start() {
  const receiver = await startReceiver();
  const webhook = { webhookUrl: receiver.url, webhookSecret: SECRET, webhookRetryBaseMs: 1 };
  const simulators = await startSimulators({
    settings: { openai: { ...QUICK.openai, ...webhook }, gemini: { ...QUICK.gemini, ...webhook } },
  });
  onTestFinished(() => simulators.close());
  return { ...receiver, simulators, control: createControl(simulators.controlUrl) };
}
type Started = Awaited<ReturnType<typeof start>>;

function verifierOf(provider: string, settings: Partial<WebhookSettings>): WebhookVerifier {
  const none = { signedLikeOpenAi: new Map(), gemini: { secrets: [], jwks: null, audience: null } };
  const verifier = createWebhookVerifiers({ ...none, ...settings }).get(provider);
  if (verifier === undefined) throw new Error(`no verifier of ${provider}`);
  return verifier;
}

/** What a provider sends for a batch of one item, and the verifier set up for it. */
interface Case {
  readonly provider: string;
  readonly type: string;
  /** Returns the batch's id. */
  readonly run: (started: Started) => Promise<string>;
  readonly verifier: (started: Started) => Promise<WebhookVerifier>;
}

const CASES: readonly (Case & { readonly name: string })[] = [
  {
    name: 'OpenAI',
    provider: 'openai',
    type: 'batch.completed',
    run: async ({ simulators }) => {
      const client = new OpenAI({ apiKey: 'sim-key', baseURL: simulators.openaiUrl });
      const body = { model: 'gpt-4o-mini', messages: [{ role: 'user', content: 'a' }] };
      const line = JSON.stringify({ custom_id: 'a', method: 'POST', url: '/v1/chat/completions', body });
      const { id: input_file_id } = await client.files.create({
        file: new File([line], 'in.jsonl'),
        purpose: 'batch',
      });
      const endpoint = '/v1/chat/completions';
      return (await client.batches.create({ input_file_id, endpoint, completion_window: '24h' })).id;
    },
    verifier: async () => verifierOf('openai', { signedLikeOpenAi: new Map([['openai', [SECRET]]]) }),
  },
  {
    name: 'Gemini with a secret',
    provider: 'gemini',
    type: 'batch.succeeded',
    run: ({ simulators }) => createGeminiBatch(simulators.geminiUrl, {}),
    verifier: async () => verifierOf('gemini', { gemini: { secrets: [SECRET], jwks: null, audience: null } }),
  },
  {
    name: 'Gemini with a token',
    provider: 'gemini',
    type: 'batch.succeeded',
    run: ({ simulators, url }) => createGeminiBatch(simulators.geminiUrl, { webhookConfig: { uris: [url] } }),
    verifier: async ({ simulators, url }) => {
      const keys = await fetch(`${simulators.geminiUrl}/.well-known/jwks.json`);
      const jwks = (await keys.json()) as WebhookSettings['gemini']['jwks'];
      return verifierOf('gemini', { gemini: { secrets: [], jwks, audience: url } });
    },
  },
];

async function createGeminiBatch(baseUrl: string, config: { webhookConfig?: { uris: string[] } }): Promise<string> {
  const client = new GoogleGenAI({ apiKey: 'sim-key', httpOptions: { baseUrl } });
  const src = [{ contents: [{ role: 'user', parts: [{ text: 'a' }] }] }];
  return (await client.batches.create({ model: MODEL, src, config: { displayName: 'a', ...config } })).name ?? '';
}

test.for(CASES)(
  'each delivery of $name is verified as one event of its batch, but for those that are not right',
  async (wanted) => {
    const started = await start();
    const deliver = (action: Fault['action']) => ({ provider: wanted.provider, route: 'webhook:deliver', action });
    await started.control.faults(
      deliver({ bad_signature: true }),
      deliver({ timestamp_shift_s: -600 }),
      deliver({ timestamp_shift_s: 600 }),
      deliver({ doubled: true }),
    );
    const providerBatchId = await wanted.run(started);
    await eventually(() => started.received.length >= 5);
    const verifier = await wanted.verifier(started);
    const verdicts = await Promise.all(started.received.map((delivery) => verifier.verify(delivery)));
    const event = { kind: 'event', provider: wanted.provider, type: wanted.type, providerBatchId };
    expect(verdicts).toMatchObject([{ reason: 'signature' }, { reason: 'stale' }, { reason: 'stale' }, event, event]);
    const ids = verdicts.flatMap((verdict) => (verdict.kind === 'event' ? [verdict.eventId] : []));
    expect(new Set(ids).size).toBe(1);
  },
);
