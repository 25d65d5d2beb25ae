import type { BatchPhase } from '../../domain/batch-phase.ts';
import type { Endpoint } from '../../domain/provider.ts';
import { createAnthropicProvider } from '../../providers/anthropic/adapter.ts';
import { createGeminiProvider } from '../../providers/gemini/adapter.ts';
import { createOpenAiProvider } from '../../providers/openai/adapter.ts';
import type { BatchProvider } from '../../providers/provider.ts';
import type { Fault } from '../../simulators/faults.ts';
import type { SimulatorOptions, Simulators } from '../../simulators/start.ts';
import { DOWNLOAD_ROUTES, type SimulatedProvider } from '../harness/simulated-provider.ts';

/** One adapter under contract: how to reach its simulator, and what its provider does in a way of its own. */
export interface AdapterUnderContract {
  provider: SimulatedProvider;
  /** Every endpoint it runs; the suite works with the first and tries each. */
  samples: readonly [Sample, ...Sample[]];
  /** Fast enough that a batch ends within a fraction of a second. */
  settings: NonNullable<SimulatorOptions['settings']>;
  connect(
    simulators: Pick<Simulators, 'openaiUrl' | 'anthropicUrl' | 'geminiUrl'>,
    timeouts: { requestTimeoutMs: number; idleTimeoutMs: number },
  ): BatchProvider;
  /** The simulator's names of its calls. */
  /** `single` answers one request of the first sample by itself. */
  routes: { create: string; retrieve: string; list: string; cancel: string; download: string; single: string };
  traits: Traits;
}

/** Laws that differ, each as the provider's documentation has it. */
interface Traits {
  /** What the reply to a create shows. */
  createdPhase: BatchPhase;
  /** The input is a file of its own; else the create carries it. */
  uploadsInput: boolean;
  /** A batch carries the token of its attempt; else only its results do. */
  carriesLabel: boolean;
  /** Counts are shown before the end. */
  showsProgress: boolean;
  /** Finished items of a batch that was cancelled, or that expired, can be had; else nothing of it. */
  keepsFinished: boolean;
  /** What one line that the provider cannot read fails. */
  badLineFails: 'batch' | 'item';
  /** How an ended batch looks whose status is not known: an operation says by itself that it is done. */
  endOfUnknownStatus: 'completed' | null;
  /** The ways in which a full queue is said, at the create or of the batch it made. */
  fullQueue: readonly { said: 'at_create' | 'of_batch'; action: Fault['action'] }[];
  /** A refusal that asks to wait for 7 seconds. */
  waitSevenSeconds: Fault['action'];
}

interface Sample {
  endpoint: Endpoint;
  model: string;
  request(prompt: string): Record<string, unknown>;
  /** False where results do not say which model ran. */
  namesModel?: false;
}

const chat = (model: string): Sample => ({
  endpoint: 'chat.completions',
  model,
  request: (prompt) => ({ messages: [{ role: 'user', content: prompt }] }),
});

const BATCH_ROUTES = {
  create: 'batches.create',
  retrieve: 'batches.retrieve',
  list: 'batches.list',
  cancel: 'batches.cancel',
} as const;

const RETRY_AFTER: Fault['action'] = { status: 429, headers: { 'retry-after': '7' } };

const failedFor = (code: string, message: string): Fault['action'] => ({
  end_state: { status: 'failed', errors: [{ code, message }] },
});

export const ADAPTERS: readonly AdapterUnderContract[] = [
  {
    provider: 'openai',
    samples: [
      chat('gpt-4.1-mini'),
      { endpoint: 'responses', model: 'gpt-4.1-mini', request: (prompt) => ({ input: prompt }) },
      { endpoint: 'embeddings', model: 'text-embedding-3-small', request: (prompt) => ({ input: prompt }) },
      { endpoint: 'moderations', model: 'omni-moderation-latest', request: (prompt) => ({ input: prompt }) },
    ],
    settings: { openai: { validatingMs: 5, inProgressMs: 10, finalizingMs: 5, cancellingMs: 5 } },
    connect: ({ openaiUrl }, timeouts) =>
      createOpenAiProvider({ apiKey: 'sk-contract', baseUrl: openaiUrl, ...timeouts }),
    routes: { ...BATCH_ROUTES, download: DOWNLOAD_ROUTES.openai, single: 'chat.completions.create' },
    traits: {
      createdPhase: 'validating',
      uploadsInput: true,
      carriesLabel: true,
      showsProgress: true,
      keepsFinished: true,
      badLineFails: 'batch',
      endOfUnknownStatus: null,
      fullQueue: [{ said: 'of_batch', action: failedFor('token_limit_exceeded', 'Enqueued token limit reached.') }],
      waitSevenSeconds: RETRY_AFTER,
    },
  },
  {
    provider: 'anthropic',
    samples: [
      chat('claude-sonnet-4-6'),
      {
        endpoint: 'messages',
        model: 'claude-sonnet-4-6',
        request: (prompt) => ({ max_tokens: 100, messages: [{ role: 'user', content: prompt }] }),
      },
    ],
    settings: { anthropic: { inProgressMs: 10, endingMs: 5, cancelingMs: 20 } },
    connect: ({ anthropicUrl }, timeouts) =>
      createAnthropicProvider({
        apiKey: 'sk-contract',
        baseUrl: anthropicUrl,
        apiVersion: '2026-10-21',
        ...timeouts,
      }),
    routes: { ...BATCH_ROUTES, download: DOWNLOAD_ROUTES.anthropic, single: 'messages.create' },
    traits: {
      createdPhase: 'running',
      uploadsInput: false,
      carriesLabel: false,
      showsProgress: false,
      keepsFinished: true,
      badLineFails: 'item',
      endOfUnknownStatus: null,
      fullQueue: [
        {
          said: 'at_create',
          action: {
            status: 429,
            body: {
              type: 'error',
              error: {
                type: 'rate_limit_error',
                message: 'This would exceed the limit of batch requests in the queue.',
              },
            },
          },
        },
      ],
      waitSevenSeconds: RETRY_AFTER,
    },
  },
  {
    provider: 'gemini',
    samples: [
      chat('gemini-2.5-flash'),
      {
        endpoint: 'generate_content',
        model: 'gemini-2.5-flash',
        request: (prompt) => ({ contents: [{ role: 'user', parts: [{ text: prompt }] }] }),
      },
      {
        endpoint: 'embeddings',
        model: 'gemini-embedding-001',
        request: (prompt) => ({ input: prompt }),
        namesModel: false,
      },
    ],
    settings: { gemini: { pendingMs: 5, runningMs: 10, cancellingMs: 5 } },
    connect: ({ geminiUrl }, timeouts) =>
      createGeminiProvider({ apiKey: 'sk-contract', baseUrl: geminiUrl, ...timeouts }),
    routes: { ...BATCH_ROUTES, download: DOWNLOAD_ROUTES.gemini, single: 'models.generateContent' },
    traits: {
      createdPhase: 'validating',
      uploadsInput: true,
      carriesLabel: true,
      showsProgress: true,
      keepsFinished: false,
      badLineFails: 'batch',
      endOfUnknownStatus: 'completed',
      fullQueue: [
        { said: 'of_batch', action: failedFor('RESOURCE_EXHAUSTED', 'The limit of enqueued tokens is reached.') },
        {
          said: 'at_create',
          action: {
            status: 429,
            body: {
              error: {
                code: 429,
                message: 'The limit of enqueued tokens for batches is reached.',
                status: 'RESOURCE_EXHAUSTED',
              },
            },
          },
        },
      ],
      waitSevenSeconds: {
        status: 429,
        body: {
          error: {
            code: 429,
            message: 'Resource has been exhausted.',
            status: 'RESOURCE_EXHAUSTED',
            details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: '7s' }],
          },
        },
      },
    },
  },
];
