import { z } from 'zod';
import type { FindingList, FindingQuery } from '../../contracts/finding.ts';
import { type Finding, listFindings } from '../../db/sweep-findings.ts';
import { decodeCursor, encodeCursor } from '../cursor.ts';
import type { ApiDependencies } from '../dependencies.ts';

const LIST = 'findings';
const Position = [z.int().positive()] as const;

/** A page of what the sweeps found, of all tenants, the newest first. */
export async function listSweepFindings(
  { db }: Pick<ApiDependencies, 'db'>,
  { cursor, limit, kind, outcome }: FindingQuery,
): Promise<FindingList> {
  const [before] = decodeCursor(LIST, Position, cursor) ?? [null];
  const findings = await listFindings(db.pool, { kind, outcome }, { before, limit: limit + 1 });
  const shown = findings.slice(0, limit);
  const last = findings.length > limit ? shown.at(-1) : undefined;
  return {
    data: shown.map(presentFinding),
    next_cursor: last === undefined ? null : encodeCursor(LIST, [last.findingNo]),
  };
}

function presentFinding(finding: Finding): FindingList['data'][number] {
  return {
    finding_no: finding.findingNo,
    kind: finding.kind,
    outcome: finding.outcome,
    subject: finding.subject,
    job_id: finding.jobId,
    tenant_id: finding.tenantId,
    facts: { ...finding.facts },
    times: finding.times,
    first_found_at: finding.firstFoundAt.toISOString(),
    last_found_at: finding.lastFoundAt.toISOString(),
  };
}
