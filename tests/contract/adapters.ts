import type { Endpoint } from '../../domain/provider.ts';
import { createOpenAiProvider } from '../../providers/openai/adapter.ts';
import type { BatchProvider } from '../../providers/provider.ts';
import type { SimulatorOptions, Simulators } from '../../simulators/start.ts';

/** One adapter under contract: how to reach its simulator, and its simulator's own names for what the suite needs. */
export interface AdapterUnderContract {
  provider: BatchProvider['provider'];
  /** Every endpoint it runs; the suite works with the first and tries each. */
  samples: readonly [Sample, ...Sample[]];
  /** Fast enough that a batch ends within a fraction of a second. */
  settings: NonNullable<SimulatorOptions['settings']>;
  connect(simulators: Simulators, timeouts: { requestTimeoutMs: number; idleTimeoutMs: number }): BatchProvider;
  routes: { create: string; retrieve: string; list: string; cancel: string; download: string };
}

interface Sample {
  endpoint: Endpoint;
  model: string;
  request(prompt: string): Record<string, unknown>;
}

export const ADAPTERS: readonly AdapterUnderContract[] = [
  {
    provider: 'openai',
    samples: [
      {
        endpoint: 'chat.completions',
        model: 'gpt-4.1-mini',
        request: (prompt) => ({ messages: [{ role: 'user', content: prompt }] }),
      },
      { endpoint: 'responses', model: 'gpt-4.1-mini', request: (prompt) => ({ input: prompt }) },
      { endpoint: 'embeddings', model: 'text-embedding-3-small', request: (prompt) => ({ input: prompt }) },
      { endpoint: 'moderations', model: 'omni-moderation-latest', request: (prompt) => ({ input: prompt }) },
    ],
    settings: { openai: { validatingMs: 5, inProgressMs: 10, finalizingMs: 5, cancellingMs: 5 } },
    connect: ({ openaiUrl }, timeouts) =>
      createOpenAiProvider({ apiKey: 'sk-contract', baseUrl: openaiUrl, ...timeouts }),
    routes: {
      create: 'batches.create',
      retrieve: 'batches.retrieve',
      list: 'batches.list',
      cancel: 'batches.cancel',
      download: 'files.content',
    },
  },
];
