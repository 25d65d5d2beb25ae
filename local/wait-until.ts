import { connect } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';

/**
 * Resolves as soon as `check` answers true, asking again every `everyMs`. A check that throws counts as "not yet".
 * Rejects with the signal's reason once it is aborted, so the caller owns the deadline.
 */
export async function waitUntil(check: () => Promise<boolean>, signal: AbortSignal, everyMs = 50): Promise<void> {
  for (;;) {
    signal.throwIfAborted();
    if (await check().catch(() => false)) return;
    await delay(everyMs, undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}

/** Resolves when `url` answers a GET with status 200. */
export function httpReady(url: string): (signal: AbortSignal) => Promise<void> {
  return (signal) =>
    waitUntil(async () => {
      const response = await fetch(url, { signal: AbortSignal.any([signal, AbortSignal.timeout(2_000)]) });
      await response.body?.cancel();
      return response.status === 200;
    }, signal);
}

/** True when something accepts connections on this port of 127.0.0.1. */
export function listens(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: '127.0.0.1' });
    socket.once('connect', () => {
      socket.destroy();
      resolve(true);
    });
    socket.once('error', () => resolve(false));
  });
}
