import { fileURLToPath } from 'node:url';
import { DefaultLogger, NativeConnection, Runtime, Worker } from '@temporalio/worker';

/**
 * A worker of empty tasks, as a process of its own: `node bench/empty-worker.ts <address> <namespace> <queue>`. Says `ready`
 * once it polls.
 */
const [address = '', namespace = '', taskQueue = ''] = process.argv.slice(2);
Runtime.install({ logger: new DefaultLogger('ERROR') });
const connection = await NativeConnection.connect({ address });
const worker = await Worker.create({
  connection,
  namespace,
  taskQueue,
  workflowsPath: fileURLToPath(new URL('./empty-workflow.ts', import.meta.url)),
  activities: { nothing: async () => undefined },
  maxConcurrentActivityTaskExecutions: 200,
});
const done = worker.run();
console.log('ready');
await done;
await connection.close();
