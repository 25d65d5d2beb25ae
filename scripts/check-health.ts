/** Fails unless a URL answers with success: the health check of a container, whose image has no other HTTP client. */
const url = process.argv[2];
if (url === undefined) throw new Error('usage: node scripts/check-health.ts <url>');

try {
  const response = await fetch(url, { signal: AbortSignal.timeout(4_000) });
  await response.body?.cancel();
  if (!response.ok) throw new Error(`${url} answered ${response.status}`);
} catch (error) {
  console.error(error instanceof Error ? error.message : error);
  process.exitCode = 1;
}
