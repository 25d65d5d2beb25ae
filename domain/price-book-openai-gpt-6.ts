import { CAUTIOUS_MAX_OUTPUT_TOKENS, type PriceRow, rates, START_OF_BOOK } from './price-row.ts';

/** Above 272K input tokens the whole request moves to twice the input and cache rates and 1.5 of output (OpenAI docs). */
const LONG_CONTEXT_TOKENS = 272_000;

/**
 * OpenAI's GPT-6 models (OpenAI pricing pages and catalogues, read 2026-11-30). Batch is documented as half of standard,
 * cached rates included.
 */
export const OPENAI_GPT_6_PRICES: readonly PriceRow[] = [
  {
    provider: 'openai',
    model: 'gpt-6.2-astra',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('8', '0.4', '10', '40'),
    batch: rates('4', '0.2', '5', '20'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('16', '0.8', '20', '60'),
      batch: rates('8', '0.4', '10', '30'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
  {
    provider: 'openai',
    model: 'gpt-6.2-sol',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('2', '0.1', '2.5', '10', '5'),
    batch: rates('1', '0.05', '1.25', '5', '2.5'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('4', '0.2', '5', '15', '10'),
      batch: rates('2', '0.1', '2.5', '7.5', '5'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
  {
    provider: 'openai',
    model: 'gpt-6.1-sol',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('2', '0.1', '2.5', '10'),
    batch: rates('1', '0.05', '1.25', '5'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('4', '0.2', '5', '15'),
      batch: rates('2', '0.1', '2.5', '7.5'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
  {
    provider: 'openai',
    model: 'gpt-6.1-terra',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('1', '0.05', '1.25', '5', '2.5'),
    batch: rates('0.5', '0.025', '0.625', '2.5', '1.25'),
    batchBasis: 'published',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('2', '0.1', '2.5', '7.5', '5'),
      batch: rates('1', '0.05', '1.25', '3.75', '2.5'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
    note: 'Batch input and output are published; the cached and cache-write batch rates are half.',
  },
  {
    provider: 'openai',
    model: 'gpt-6-astra',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('10', '1', '12.5', '50'),
    batch: rates('5', '0.5', '6.25', '25'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('20', '2', '25', '75'),
      batch: rates('10', '1', '12.5', '37.5'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
  {
    provider: 'openai',
    model: 'gpt-6-sol',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('2', '0.2', '2.5', '10'),
    batch: rates('1', '0.1', '1.25', '5'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('4', '0.4', '5', '15'),
      batch: rates('2', '0.2', '2.5', '7.5'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
  {
    provider: 'openai',
    model: 'gpt-6-luna',
    from: START_OF_BOOK,
    currency: 'USD',
    kind: 'chat',
    standard: rates('0.1', '0.01', '0.125', '0.5'),
    batch: rates('0.05', '0.005', '0.0625', '0.25'),
    batchBasis: 'half_of_standard',
    longContext: {
      aboveInputTokens: LONG_CONTEXT_TOKENS,
      standard: rates('0.2', '0.02', '0.25', '0.75'),
      batch: rates('0.1', '0.01', '0.125', '0.375'),
    },
    maxOutputTokens: CAUTIOUS_MAX_OUTPUT_TOKENS,
  },
];
