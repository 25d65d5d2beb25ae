/** The providers that have a simulator. */
export type SimulatedProvider = 'openai' | 'anthropic' | 'gemini';

/** The simulators' names for a download of results; their other calls on batches have the same names everywhere. */
export const DOWNLOAD_ROUTES = {
  openai: 'files.content',
  anthropic: 'batches.results',
  gemini: 'files.download',
} as const satisfies { readonly [provider in SimulatedProvider]: string };
