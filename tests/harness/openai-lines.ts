/** A result line of OpenAI with status 200. */
export function resultLine(customId: unknown, body: unknown): string {
  return JSON.stringify({ id: 'batch_req_1', custom_id: customId, response: { status_code: 200, body }, error: null });
}

/** A chat completion with a given text, finish reason and usage. */
export function completion({
  text = 'done',
  stop = 'stop',
  usage,
}: {
  text?: string | null;
  stop?: string;
  usage?: unknown;
}) {
  const message = { role: 'assistant', content: text };
  const choices = [{ index: 0, message, finish_reason: stop }];
  return { id: 'chatcmpl-1', object: 'chat.completion', model: 'gpt-4o-mini', choices, usage };
}
