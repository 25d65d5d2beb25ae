/**
 * What Node starts a worker with. A worker is two V8 heaps, its own and that of the workflow thread, and each may take up to
 * three times this much (in MB) for new objects alone; at V8's own 16 MB and more a third of the process was that. It can only
 * be said on the command line: a heap that exists keeps its limits. See docs/performance.md, "Waiting jobs".
 */
export const WORKER_NODE_FLAGS: readonly string[] = ['--max-semi-space-size=8'];
