import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** Endpoints that an OpenAI-compatible batch API may have. */
const ENDPOINTS = ['chat.completions', 'responses', 'embeddings', 'moderations'] as const;
/** The names of the built-in providers, which a file cannot take. */
const BUILT_IN = ['openai', 'anthropic', 'gemini'];

const Name = z
  .string()
  .regex(/^[a-z][a-z0-9-]{0,31}$/, 'must be 1 to 32 lower-case letters, digits and dashes, a letter first')
  .refine((name) => !BUILT_IN.includes(name), 'is the name of a built-in provider; choose another');
const VariableName = z.string().regex(/^[A-Z][A-Z0-9_]*$/, 'must be the name of an environment variable');
const Rate = z
  .string()
  .regex(/^\d{1,9}(\.\d{1,6})?$/, 'must be the price of a million tokens, a decimal string of at most six decimals');
const Count = z.int().positive();

const Rates = z.strictObject({
  input: Rate,
  cached_input: Rate.optional(),
  cache_write: Rate.optional(),
  output: Rate,
});

const Model = z.strictObject({
  model: z.string().min(1).max(200),
  kind: z.enum(['chat', 'embedding', 'moderation']).default('chat'),
  currency: z.string().regex(/^[A-Z]{3}$/, 'must be three capital letters such as USD'),
  /** First day of the prices. */
  from: z.iso.date().optional(),
  batch: Rates,
  /** Prices of the ordinary API; those of batch mode where absent. */
  standard: Rates.optional(),
  max_output_tokens: z.int().nonnegative().default(32_768),
});

const ConfiguredProvider = z.strictObject({
  name: Name,
  /** With the version, as the official OpenAI SDK takes it. */
  base_url: z.url({ protocol: /^https?$/ }),
  api_key_variable: VariableName,
  webhook_secret_variable: VariableName.optional(),
  auth: z.enum(['bearer', 'api-key']).default('bearer'),
  /** What stands before `/chat/completions` in the `url` of a line and in `endpoint` of a batch. */
  line_path_prefix: z
    .string()
    .regex(/^(\/[\w.-]+)*$/, 'must be a path such as /v1, or empty')
    .default('/v1'),
  /** Where its address processes data. */
  region: z.string().min(1).max(64).default('global'),
  endpoints: z.array(z.enum(ENDPOINTS)).min(1),
  models: z.array(Model).min(1),
  limits: z
    .strictObject({
      max_items: Count,
      max_bytes: Count,
      max_item_bytes: Count,
      max_embedding_inputs: Count,
      max_creates_per_hour: Count,
      max_queued_items: Count,
      max_queued_tokens: Count,
      max_concurrent_batches: Count,
    })
    .partial()
    .default({}),
  lifetime: z
    .strictObject({
      window_hours: Count.nullable(),
      result_retention_days: Count,
      on_expiry: z.enum(['finished_items_kept', 'nothing_kept']),
      on_cancel: z.enum(['finished_items_kept', 'nothing_kept']),
    })
    .partial()
    .default({}),
  /** Features its batch mode does not have, by the names of `GET /v1/capabilities`. */
  refuses: z.array(z.string()).default([]),
});
export type ConfiguredProvider = z.infer<typeof ConfiguredProvider>;

const ProvidersFile = z
  .strictObject({ providers: z.array(ConfiguredProvider) })
  .superRefine(({ providers }, context) => {
    for (const [index, { name }] of providers.entries()) {
      if (providers.findIndex((other) => other.name === name) === index) continue;
      context.addIssue({ code: 'custom', path: ['providers', index, 'name'], message: `"${name}" is there twice` });
    }
  });

/**
 * Providers that speak OpenAI's batch API, from a JSON file. Throws an Error of one line for each problem, with the path
 * of the field.
 */
export function readProvidersFile(path: string): readonly ConfiguredProvider[] {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} is not a readable JSON file: ${error instanceof Error ? error.message : error}`);
  }
  const result = ProvidersFile.safeParse(content);
  if (result.success) return result.data.providers;
  throw new Error(result.error.issues.map(({ path: at, message }) => `${path}: ${at.join('.')} ${message}`).join('\n'));
}
