import { z } from 'zod';

export const Health = z.object({ status: z.literal('ok') }).meta({ id: 'Health' });

const Dependency = z.enum(['ok', 'unreachable']);

export const Readiness = z
  .object({
    status: z.enum(['ready', 'not_ready']),
    dependencies: z.object({ postgres: Dependency, temporal: Dependency }),
  })
  .meta({ id: 'Readiness' });
export type Readiness = z.infer<typeof Readiness>;
