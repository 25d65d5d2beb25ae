import { z } from 'zod';

const MAX_PAYLOADS = 10_000;

const Base64 = z.string().regex(/^[A-Za-z0-9+/]*={0,2}$/, 'must be base64');

/** As Temporal's tools write it. Members that they may add are let through unread. */
const Payload = z.object({ metadata: z.record(z.string(), Base64).default({}), data: Base64.default('') });

export const CodecPayloads = z.object({ payloads: z.array(Payload).max(MAX_PAYLOADS) }).meta({
  id: 'CodecPayloads',
  description: 'Payloads as Temporal’s Web UI and command line send them to a codec server.',
});
export type CodecPayloads = z.infer<typeof CodecPayloads>;
