import { TypeID, typeid } from 'typeid-js';
import { JOB_KINDS, type JobKind } from '../domain/job-kind.ts';

/** The public prefix of each kind of id. Job and item ids are stored as uuid, all others as this text. */
const PREFIX_OF = {
  job: 'job',
  item: 'item',
  task: 'task',
  doc: 'doc',
  documentUpload: 'upload',
  documentRun: 'run',
  documentBatch: 'docbatch',
  documentWebhook: 'docwhk',
  key: 'key',
  budget: 'bud',
  event: 'evt',
  request: 'req',
  tenant: 'tenant',
  project: 'proj',
  customer: 'cust',
  priceOverride: 'price',
  capabilityOverride: 'cap',
  suspension: 'susp',
  schedule: 'sched',
  webhookEndpoint: 'whe',
  webhookSecret: 'whs',
  webhookDelivery: 'whd',
  credential: 'cred',
  legalHold: 'hold',
  dataDeletion: 'del',
} as const;
export type IdKind = keyof typeof PREFIX_OF;

/** 128 bits in 26 characters of base 32: the first holds only three bits. */
const SUFFIX = /^[0-7][0-9a-hjkmnp-tv-z]{25}$/;

/** A new TypeID (`job_01j7…`), ordered by time of creation. */
export function newId(kind: IdKind): string {
  return typeid(PREFIX_OF[kind]).toString();
}

/** The uuid of a public id; null when it is malformed or of another kind, which to a caller is an unknown id. */
export function toUuid(kind: IdKind, id: string): string | null {
  const prefix = PREFIX_OF[kind];
  if (!id.startsWith(`${prefix}_`)) return null;
  const suffix = id.slice(prefix.length + 1);
  if (!SUFFIX.test(suffix)) return null;
  try {
    return typeid(prefix, suffix).toUUID();
  } catch {
    // 128 bits that no uuid has: an id nobody was ever given.
    return null;
  }
}

/** The public id of a uuid as Postgres prints it. */
export function fromUuid(kind: IdKind, uuid: string): string {
  return TypeID.fromUUID(PREFIX_OF[kind], uuid).toString();
}

const ID_KIND_OF_JOB = { batch: 'job', task: 'task', document: 'documentRun' } as const satisfies {
  readonly [kind in JobKind]: IdKind;
};

/** The public id of what a job's rows stand for: `job_…`, `task_…` or `run_…`. */
export function jobIdOf({ kind, uuid }: { readonly kind: JobKind; readonly uuid: string }): string {
  return fromUuid(ID_KIND_OF_JOB[kind], uuid);
}

/** The kind and uuid behind such an id; null for any other, and for a malformed one. */
export function parseJobId(id: string): { readonly kind: JobKind; readonly uuid: string } | null {
  for (const kind of JOB_KINDS) {
    const uuid = toUuid(ID_KIND_OF_JOB[kind], id);
    if (uuid !== null) return { kind, uuid };
  }
  return null;
}
