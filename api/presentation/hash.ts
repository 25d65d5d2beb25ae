/** A SHA-256 as it is shown. */
export function presentHash(sha256: Buffer): string {
  return `sha256:${sha256.toString('hex')}`;
}
