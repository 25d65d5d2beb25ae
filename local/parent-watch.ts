/** The part of `process` that matters here, so that a test can stand in for it. */
interface WatchedProcess {
  readonly channel?: { unref(): void } | null | undefined;
  readonly pid: number;
  once(event: 'disconnect', listener: () => void): unknown;
  kill(pid: number, signal: 'SIGTERM' | 'SIGKILL'): unknown;
}

/**
 * Ends this process when the one that started it is gone, however it went: the channel between them then closes. It
 * gets a SIGTERM, so that its own orderly shutdown runs, and a SIGKILL when that takes longer than `graceMs`. Does
 * nothing in a process, or a worker thread, that was started without a channel.
 */
export function exitWhenParentDies(self: WatchedProcess = process, graceMs = 30_000): void {
  if (!self.channel) return;
  self.once('disconnect', () => {
    self.kill(self.pid, 'SIGTERM');
    setTimeout(() => self.kill(self.pid, 'SIGKILL'), graceMs).unref();
  });
  // The listener alone would keep a process alive that has nothing left to do.
  self.channel.unref();
}
