import { completion, resultLine } from './openai-lines.ts';
import type { SimulatedProvider } from './simulated-provider.ts';

/** What a result line of an answered item says. */
export interface LineAnswer {
  readonly text?: string | undefined;
  /** The provider's own shape; left out where it is undefined. */
  readonly usage?: unknown;
}

/** A provider as tests run jobs of chat completions on it. */
export interface ChatTarget {
  readonly provider: SimulatedProvider;
  /** As callers name it. */
  readonly model: string;
  /** The provider tells how far a batch is while it runs. */
  readonly showsProgress: boolean;
  /** Finished items of a batch that was cancelled, or that expired, can be had. */
  readonly keepsFinished: boolean;
  /** Dollars for `[[sim:usage=1000,100]]`, by the batch rates of the model in the price book. */
  readonly costOf1000And100: string;
  /** The provider's word for a batch that ended well. */
  readonly endedStatus: string;
  /** The result line of an item that was answered. */
  answered(id: unknown, answer?: LineAnswer): string;
  /** The result line of an item with this in the place of what came of it. */
  line(id: unknown, outcome: object): string;
}

/** Rates of gpt-4o-mini: 0.075 in, 0.3 out. */
export const OPENAI: ChatTarget = {
  provider: 'openai',
  model: 'openai/gpt-4o-mini',
  showsProgress: true,
  keepsFinished: true,
  costOf1000And100: '0.000105',
  endedStatus: 'completed',
  answered: (id, { text = 'done', usage } = {}) => resultLine(id, completion({ text, usage })),
  line: (id, outcome) => JSON.stringify({ custom_id: id, ...outcome }),
};

/** Rates of claude-sonnet-4-6: 1.5 in, 0.15 cached, 1.875 and 3 written to the cache, 7.5 out. */
export const ANTHROPIC: ChatTarget = {
  provider: 'anthropic',
  model: 'anthropic/claude-sonnet-4-6',
  showsProgress: false,
  keepsFinished: true,
  costOf1000And100: '0.00225',
  endedStatus: 'ended',
  answered: (id, answer) => ANTHROPIC.line(id, { result: { type: 'succeeded', message: anthropicMessage(answer) } }),
  line: (id, outcome) => JSON.stringify({ custom_id: id, ...outcome }),
};

/** Rates of gemini-2.5-flash: 0.15 in, 0.03 cached, 1.25 out. */
export const GEMINI: ChatTarget = {
  provider: 'gemini',
  model: 'gemini/gemini-2.5-flash',
  showsProgress: true,
  keepsFinished: false,
  costOf1000And100: '0.000275',
  endedStatus: 'BATCH_STATE_SUCCEEDED',
  answered: (id, answer) => GEMINI.line(id, { response: geminiResponse(answer) }),
  line: (id, outcome) => JSON.stringify({ key: id, ...outcome }),
};

/** A Message with a given text and usage. */
export function anthropicMessage({ text = 'done', usage }: LineAnswer = {}) {
  return {
    id: 'msg_1',
    type: 'message',
    role: 'assistant',
    model: 'claude-sonnet-4-6',
    content: [{ type: 'text', text }],
    stop_reason: 'end_turn',
    usage,
  };
}

/** A GenerateContentResponse with a given text and usage. */
export function geminiResponse({ text = 'done', usage }: LineAnswer = {}) {
  const content = { parts: [{ text }], role: 'model' };
  return {
    candidates: [{ content, finishReason: 'STOP', index: 0 }],
    usageMetadata: usage,
    modelVersion: 'gemini-2.5-flash',
  };
}

/** Runs a scenario at several providers side by side, for most of it is waiting; what fails says where. */
export async function atEach<Target extends ChatTarget>(
  targets: readonly Target[],
  scenario: (target: Target) => Promise<void>,
): Promise<void> {
  const ends = await Promise.allSettled(targets.map(scenario));
  for (const [index, end] of ends.entries()) {
    if (end.status === 'rejected') throw new Error(`at ${targets[index]?.provider}`, { cause: end.reason });
  }
}
