import type { Findings } from './findings.ts';
import { inspectText } from './inspect-text.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { addInlineMedia, addProviderFile, addRemoteMedia } from './media-input.ts';

/** The content of an Anthropic message: text, or blocks (Anthropic Messages docs, "content blocks"). */
export function inspectMessageContent(content: unknown, path: string, findings: Findings): void {
  if (typeof content === 'string') {
    findings.text(content);
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    findings.problem(path, 'must be a string or a non-empty list of content blocks');
    return;
  }
  for (const [index, block] of content.entries()) inspectBlock(block, `${path}[${index}]`, findings);
}

/** Blocks of types not named here (thinking, tool use, search results) come from earlier replies: their text counts. */
function inspectBlock(block: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(block)) {
    findings.problem(path, 'must be an object');
    return;
  }
  switch (block['type']) {
    case 'text':
      inspectText(block['text'], `${path}.text`, findings);
      return;
    case 'image':
    case 'document':
      inspectSource(block['type'], findObject(block, 'source'), `${path}.source`, findings);
      return;
    case 'tool_result': {
      const content = block['content'] ?? null;
      content === null ? undefined : inspectMessageContent(content, `${path}.content`, findings);
      return;
    }
    default:
      if (typeof block['type'] !== 'string') {
        findings.problem(`${path}.type`, 'must be a string');
        return;
      }
      findings.json(block);
      return;
  }
}

function inspectSource(kind: 'image' | 'document', source: JsonObject | null, path: string, findings: Findings): void {
  const data = source?.['data'];
  switch (source?.['type']) {
    case 'base64':
      if (typeof data !== 'string') {
        findings.problem(`${path}.data`, 'must be base64 text');
        return;
      }
      addInlineMedia(kind, data.length, path, findings);
      return;
    case 'text':
      inspectText(data, `${path}.data`, findings);
      return;
    case 'content':
      inspectMessageContent(source['content'], `${path}.content`, findings);
      return;
    case 'url':
      addRemoteMedia(kind, path, findings);
      return;
    case 'file':
      addProviderFile(kind, path, findings);
      return;
    default:
      findings.problem(`${path}.type`, 'must be base64, text, content, url or file');
      return;
  }
}
