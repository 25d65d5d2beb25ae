import type { Provider } from './provider.ts';
import type { Feature } from './request-features.ts';

/** What a provider's batch mode refuses, and the size of one item it takes. */
export interface BatchCapabilities {
  readonly refuses: readonly { readonly feature: Feature; readonly message: string }[];
  readonly maxItemBytes: number;
}

const NO_STREAM = {
  feature: 'STREAM',
  message:
    "The selected provider's batch mode does not stream responses. Remove stream=true or call a synchronous endpoint.",
} as const;

/** Null where the gateway has no adapter. OpenAI: Batch API guide (no streaming, 200 MB a file). */
export const BATCH_CAPABILITIES: { readonly [provider in Provider]: BatchCapabilities | null } = {
  openai: { refuses: [NO_STREAM], maxItemBytes: 100_000_000 },
  anthropic: null,
  gemini: null,
};
