import type { ResultFile } from '../../providers/provider.ts';
import type { ProviderError } from '../../providers/provider-error.ts';
import { FakeProvider } from './fake-provider.ts';

/** What one line of a `ReplyProvider` says of an item. */
export interface ReplyLine {
  readonly id: string;
  readonly kind: 'completed' | 'failed';
  /** In the reply of a completed item, and all over a failure. */
  readonly says: string;
}

/** A provider in memory whose result lines have contents. */
export class ReplyProvider extends FakeProvider {
  /** Files that were read, or begun to be, oldest first. */
  readonly downloads: string[] = [];
  /** Thrown in place of any file. */
  refusal: ProviderError | null = null;

  override async *downloadFile({ file }: { file: Pick<ResultFile, 'fileId'> }): AsyncGenerator<Uint8Array> {
    this.downloads.push(file.fileId);
    if (this.refusal !== null) throw this.refusal;
    yield* super.downloadFile({ file });
  }

  override decodeLine(_endpoint: string, line: string): ReturnType<FakeProvider['decodeLine']> {
    const { id, kind, says } = JSON.parse(line) as ReplyLine;
    const body = JSON.stringify({ choices: [{ message: { role: 'assistant', content: says } }] });
    if (kind === 'completed') {
      const usage = { inputTokens: 10, outputTokens: 5 };
      return { kind: 'result', providerItemId: id, result: { kind, body, usage, model: 'gpt-4o-mini' } };
    }
    const native = { message: says, nativeType: says, nativeCode: says, statusCode: 500, body };
    return {
      kind: 'result',
      providerItemId: id,
      result: { kind, class: 'provider_error', code: 'unknown_provider_error', ...native },
    };
  }
}

export function replyLine(line: ReplyLine): string {
  return JSON.stringify(line);
}
