import { z } from 'zod';
import { CacheControl, Message, System } from './content-schema.ts';
import type { ApiVersion } from './versions.ts';

const Tool = z.strictObject({
  type: z.literal('custom').nullish(),
  name: z.string().regex(/^[a-zA-Z0-9_-]{1,128}$/),
  description: z.string().optional(),
  input_schema: z.looseObject({ type: z.literal('object') }),
  strict: z.boolean().optional(),
  cache_control: CacheControl,
  allowed_callers: z.array(z.string()).optional(),
  defer_loading: z.boolean().optional(),
  eager_input_streaming: z.boolean().nullish(),
  input_examples: z.array(z.record(z.string(), z.unknown())).optional(),
});
/** A tool Anthropic runs or defines itself, known by its dated type; it is taken but never called. */
const ServerTool = z.looseObject({ type: z.string().regex(/_\d{8}$/), name: z.string().optional() });

const Parallel = { disable_parallel_tool_use: z.boolean().optional() };
const ToolChoice = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('auto'), ...Parallel }),
  z.strictObject({ type: z.literal('any'), ...Parallel }),
  z.strictObject({ type: z.literal('tool'), name: z.string(), ...Parallel }),
  z.strictObject({ type: z.literal('none') }),
]);

const display = z.enum(['summarized', 'omitted']).nullish();
const Thinking = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('enabled'), budget_tokens: z.number().int().min(1_024), display }),
  z.strictObject({ type: z.literal('adaptive'), display }),
  z.strictObject({ type: z.literal('between_tools') }),
  z.strictObject({ type: z.literal('disabled') }),
]);

const OutputConfig = z.strictObject({
  effort: z.enum(['low', 'medium', 'high', 'xhigh', 'max']).nullish(),
  format: z.strictObject({ type: z.literal('json_schema'), schema: z.record(z.string(), z.unknown()) }).nullish(),
});

const Newest = z.strictObject({
  model: z.string().min(1),
  max_tokens: z.number().int().min(1),
  messages: z.array(Message).min(1).max(100_000),
  system: System.optional(),
  tools: z.array(z.union([Tool, ServerTool])).optional(),
  tool_choice: ToolChoice.optional(),
  thinking: Thinking.optional(),
  output_config: OutputConfig.optional(),
  stop_sequences: z.array(z.string().min(1)).optional(),
  metadata: z.strictObject({ user_id: z.string().nullish() }).optional(),
  service_tier: z.enum(['auto', 'standard_only']).optional(),
  stream: z.boolean().optional(),
  speed: z.enum(['standard', 'fast']).nullish(),
  inference_geo: z.string().nullish(),
  cache_control: CacheControl,
  container: z.unknown().optional(),
  diagnostics: z.unknown().optional(),
  user_profile_id: z.string().optional(),
});
const Sampling = {
  temperature: z.number().min(0).max(1).optional(),
  top_p: z.number().min(0).max(1).optional(),
  top_k: z.number().int().min(0).optional(),
};

/** A Messages body of each API version (@anthropic-ai/sdk types; Anthropic versioning docs). */
export const PARAMS = {
  '2023-06-01': Newest.extend(Sampling),
  '2026-10-21': Newest,
} as const satisfies Record<ApiVersion, z.ZodType>;

export type CheckedParams = z.infer<(typeof PARAMS)['2023-06-01']>;

/** The first thing wrong with a body, as `place: what`, or the body. */
export function readParams(params: unknown, version: ApiVersion): { checked: CheckedParams } | { problem: string } {
  const parsed = PARAMS[version].safeParse(params);
  return parsed.success ? { checked: parsed.data } : { problem: problemOf(parsed.error.issues) };
}

type Issue = z.core.$ZodIssue;

/** Of a choice between shapes, what is wrong with the one that was most nearly met. */
function problemOf(issues: readonly Issue[], base: readonly PropertyKey[] = []): string {
  const [issue] = issues;
  if (issue === undefined) return 'the request is not valid';
  const path = [...base, ...issue.path];
  if (issue.code === 'invalid_union' && issue.errors.length > 0) return problemOf(nearest(issue.errors), path);
  const place = (more: readonly PropertyKey[] = []) => [...path, ...more].map(String).join('.');
  if (issue.code === 'unrecognized_keys') return `${place([issue.keys[0] ?? ''])}: Extra inputs are not permitted`;
  const isMissing = issue.code === 'invalid_type' && issue.message.endsWith('received undefined');
  return `${place() || 'params'}: ${isMissing ? 'Field required' : issue.message}`;
}

function nearest(branches: readonly (readonly Issue[])[]): readonly Issue[] {
  const depth = (issues: readonly Issue[]) => Math.max(...issues.map(({ path }) => path.length));
  return branches.toSorted((a, b) => depth(b) - depth(a))[0] ?? [];
}
