import { randomUUID } from 'node:crypto';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DEFAULT_INTAKE_LIMITS,
  DEFAULT_SPOOL_MEMORY_BYTES,
  type IntakeSettings,
} from '../../db/intake/intake-settings.ts';
import { SpoolSpace } from '../../db/intake/spool-space.ts';
import { Recogniser } from '../../documents/recogniser.ts';
import type { DocumentLimits } from '../../domain/document-facts.ts';

const SPOOL_BYTES = 256 * 1024 ** 2;

/** A spool of its own, and the limits of a gateway without settings. */
export function testIntake(): IntakeSettings {
  return {
    spool: {
      directory: join(tmpdir(), `batchgate-spool-${randomUUID()}`),
      memoryBytes: DEFAULT_SPOOL_MEMORY_BYTES,
      space: new SpoolSpace(SPOOL_BYTES),
    },
    limits: DEFAULT_INTAKE_LIMITS,
  };
}

/** Where tests serve the items of recurring jobs. */
export const TEST_FETCH_HOSTS: ReadonlySet<string> = new Set(['127.0.0.1']);

/** One for all tests of a file: its threads are started once. */
const recogniser = new Recogniser();

/** What uploaded files may be: less than a gateway without settings takes, so that a test meets each limit with a small file. */
export function testDocuments(): { readonly limits: DocumentLimits; readonly recogniser: Recogniser } {
  return { limits: { maxBytes: 1024 ** 2, maxPages: 20, maxPixels: 1_000_000 }, recogniser };
}
