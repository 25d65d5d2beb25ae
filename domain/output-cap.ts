import { findObject, type JsonObject } from './json-object.ts';
import type { Endpoint } from './provider.ts';

/** What a request says of the length of its reply. */
export interface OutputCap {
  /** The most tokens of one choice, null where the request sets no limit. */
  readonly maxOutputTokens: number | null;
  /** Alternatives asked for, each as long as the cap allows. */
  readonly choices: number;
  readonly reasons: boolean;
}

/** Members of the wrong type are taken for absent: the inspection reports them. */
export function readOutputCap(endpoint: Endpoint, request: JsonObject): OutputCap {
  switch (endpoint) {
    case 'chat.completions':
      return {
        maxOutputTokens: largest(request['max_completion_tokens'], request['max_tokens']),
        choices: count(request['n']),
        reasons: isEffort(request['reasoning_effort']),
      };
    case 'responses':
      return {
        maxOutputTokens: largest(request['max_output_tokens']),
        choices: 1,
        reasons: isEffort(findObject(request, 'reasoning')?.['effort']),
      };
    case 'messages':
      return {
        maxOutputTokens: largest(request['max_tokens']),
        choices: 1,
        reasons: isEnabled(findObject(request, 'thinking')?.['type']),
      };
    case 'generate_content': {
      const config = findObject(request, 'generationConfig') ?? findObject(request, 'generation_config') ?? {};
      return {
        maxOutputTokens: largest(config['maxOutputTokens'], config['max_output_tokens']),
        choices: count(config['candidateCount'] ?? config['candidate_count']),
        reasons: (config['thinkingConfig'] ?? config['thinking_config'] ?? null) !== null,
      };
    }
    case 'embeddings':
    case 'moderations':
      return { maxOutputTokens: 0, choices: 1, reasons: false };
  }
}

function isPositiveInteger(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) > 0;
}

function largest(...caps: readonly unknown[]): number | null {
  const set = caps.filter(isPositiveInteger);
  return set.length === 0 ? null : Math.max(...set);
}

function count(choices: unknown): number {
  return isPositiveInteger(choices) ? choices : 1;
}

function isEffort(value: unknown): boolean {
  return typeof value === 'string' && value !== 'none';
}

function isEnabled(value: unknown): boolean {
  return typeof value === 'string' && value !== 'disabled';
}
