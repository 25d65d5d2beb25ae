import type { Findings } from './findings.ts';
import { isJsonObject, type JsonObject } from './json-object.ts';
import { FEATURE } from './request-features.ts';

/** A list of tools. `inspectTool` says what else one asks for: SERVER_TOOLS for one that the provider runs. */
export function inspectTools(
  tools: unknown,
  path: string,
  inspectTool: (tool: JsonObject, path: string, findings: Findings) => void,
  findings: Findings,
): void {
  if (tools === undefined || tools === null) return;
  if (!Array.isArray(tools)) {
    findings.problem(path, 'must be a list');
    return;
  }
  if (tools.length === 0) return;
  findings.feature(FEATURE.TOOLS, path);
  for (const [index, tool] of tools.entries()) {
    const place = `${path}[${index}]`;
    if (!isJsonObject(tool)) {
      findings.problem(place, 'must be an object');
      continue;
    }
    inspectTool(tool, place, findings);
    findings.json(tool);
  }
}
