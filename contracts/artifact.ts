import { z } from 'zod';
import { NextCursor } from './pagination.ts';
import { Timestamp } from './text.ts';

const Artifact = z
  .object({
    shard: z.int(),
    attempt: z.int(),
    file: z.int().meta({ description: 'Of the result files of the attempt, from 1 on.' }),
    kind: z.enum(['output', 'error']),
    key: z.string().meta({ description: 'Within the artifact store.' }),
    state: z.enum(['stored', 'not_stored', 'deleted']).meta({
      description: '`not_stored`: the store did not take it. A re-ingest stores it, while the provider has it.',
    }),
    bytes: z.int().nullable().meta({ description: 'Of the provider’s file.' }),
    stored_bytes: z.int().nullable().meta({ description: 'As it lies in the store, compressed.' }),
    sha256: z.string().nullable().meta({ description: 'Of the provider’s file, `sha256:` and 64 hexadecimal digits.' }),
    stored_at: Timestamp.nullable(),
    deleted_at: Timestamp.nullable(),
  })
  .meta({ id: 'Artifact', description: 'A copy of a provider’s own result file.' });

export const ArtifactList = z.object({ data: z.array(Artifact), next_cursor: NextCursor }).meta({ id: 'ArtifactList' });
export type ArtifactList = z.infer<typeof ArtifactList>;
