import { z } from 'zod';
import { PROVIDER_NAME } from '../domain/provider.ts';

/** One of the three built-in providers, or one of the gateway's own providers file. */
export const ProviderName = z
  .string()
  .meta({ description: '`openai`, `anthropic`, `gemini` or a configured provider.', example: 'openai' });

/** The form of a provider's name; whether the gateway has one of that name is another question. */
export const ProviderInput = z
  .string()
  .regex(PROVIDER_NAME, 'must be the name of a provider, such as "openai"')
  .meta({ description: '`openai`, `anthropic`, `gemini` or a configured provider.', example: 'openai' });
