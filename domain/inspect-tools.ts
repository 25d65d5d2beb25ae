import type { Findings } from './findings.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { estimateJsonTokens } from './json-tokens.ts';
import { FEATURE } from './request-features.ts';

/** A list of tools: the caller's own functions are TOOLS, tools the provider runs are SERVER_TOOLS as well. */
export function inspectTools(
  tools: unknown,
  path: string,
  isOwnTool: (tool: JsonObject) => boolean,
  findings: Findings,
): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) {
    findings.problem(path, 'must be a list');
    return;
  }
  if (tools.length === 0) return;
  findings.feature(FEATURE.TOOLS);
  for (const [index, tool] of tools.entries()) {
    if (!isJsonObject(tool)) {
      findings.problem(`${path}[${index}]`, 'must be an object');
      continue;
    }
    if (!isOwnTool(tool)) findings.feature(FEATURE.SERVER_TOOLS);
    findings.tokens(estimateJsonTokens(tool));
  }
}
