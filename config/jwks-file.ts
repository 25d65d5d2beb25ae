import { readFileSync } from 'node:fs';
import { z } from 'zod';

/** A JSON Web Key Set (RFC 7517) of public RSA keys, which is what RS256 is checked with. Other keys in it are left out. */
const RsaKey = z.looseObject({ kty: z.literal('RSA'), n: z.string().min(1), e: z.string().min(1) });
export interface Jwks {
  readonly keys: z.infer<typeof RsaKey>[];
}

const JwksFile = z.object({ keys: z.array(z.unknown()) });

/** Throws an Error of one line for a file that is missing, is no key set, or has no RSA key. */
export function readJwksFile(path: string): Jwks {
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, 'utf8'));
  } catch (error) {
    throw new Error(`${path} is not a readable JSON file: ${error instanceof Error ? error.message : error}`);
  }
  const set = JwksFile.safeParse(content);
  const keys = set.success ? set.data.keys.flatMap((key) => RsaKey.safeParse(key).data ?? []) : [];
  if (keys.length === 0) throw new Error(`${path} holds no RSA keys: it must be a JSON Web Key Set, {"keys": [...]}`);
  return { keys };
}
