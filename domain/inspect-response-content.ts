import type { Findings } from './findings.ts';
import { inspectText } from './inspect-text.ts';
import { findObject, isJsonObject, type JsonObject } from './json-object.ts';
import { addInlineMedia, addMediaUrl, addProviderFile, addRemoteMedia } from './media-input.ts';

/** The content of an input message (openai SDK, `ResponseInputMessageContentList`, `ResponseOutputMessage`). */
export function inspectResponseContent(content: unknown, path: string, findings: Findings): void {
  if (typeof content === 'string') {
    findings.text(content);
    return;
  }
  if (!Array.isArray(content) || content.length === 0) {
    findings.problem(path, 'must be a string or a non-empty list of content parts');
    return;
  }
  for (const [index, part] of content.entries()) inspectPart(part, `${path}[${index}]`, findings);
}

function inspectPart(part: unknown, path: string, findings: Findings): void {
  if (!isJsonObject(part)) {
    findings.problem(path, 'must be an object');
    return;
  }
  switch (part['type']) {
    case 'input_text':
    case 'output_text':
      inspectText(part['text'], `${path}.text`, findings);
      return;
    case 'refusal':
      inspectText(part['refusal'], `${path}.refusal`, findings);
      return;
    case 'input_image':
      inspectImage(part, path, findings);
      return;
    case 'input_file':
      inspectFile(part, path, findings);
      return;
    case 'input_audio': {
      const data = findObject(part, 'input_audio')?.['data'];
      if (typeof data !== 'string') {
        findings.problem(`${path}.input_audio.data`, 'must be base64 text');
        return;
      }
      addInlineMedia('audio', data.length, `${path}.input_audio`, findings);
      return;
    }
    default:
      findings.problem(`${path}.type`, 'must be input_text, output_text, input_image, input_file or input_audio');
      return;
  }
}

function inspectImage(part: JsonObject, path: string, findings: Findings): void {
  const url = part['image_url'];
  if (typeof url === 'string') {
    addMediaUrl('image', url, `${path}.image_url`, findings);
    return;
  }
  if (typeof part['file_id'] === 'string') {
    addProviderFile('image', `${path}.file_id`, findings);
    return;
  }
  findings.problem(path, 'must have image_url or file_id');
}

function inspectFile(part: JsonObject, path: string, findings: Findings): void {
  const data = part['file_data'];
  if (typeof data === 'string') {
    if (data.startsWith('data:')) {
      addMediaUrl('document', data, `${path}.file_data`, findings);
      return;
    }
    addInlineMedia('document', data.length, `${path}.file_data`, findings);
    return;
  }
  if (typeof part['file_url'] === 'string') {
    addRemoteMedia('document', `${path}.file_url`, findings);
    return;
  }
  if (typeof part['file_id'] === 'string') {
    addProviderFile('document', `${path}.file_id`, findings);
    return;
  }
  findings.problem(path, 'must have file_data, file_url or file_id');
}
