import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { replayOpen } from '../worker/replay-open.ts';
import { bundleWorkflowsApart } from '../worker/workflow-bundle.ts';

// Before a deployment: can the workflow code of this tree go on with every workflow that is open where the TEMPORAL_*
// variables point? Reads only; exit code 1 when it cannot.
Runtime.install({ logger: new DefaultLogger('ERROR') });
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
try {
  const { runs, broken } = await replayOpen(new Client({ connection, namespace }), await bundleWorkflowsApart());
  for (const line of broken) console.error(line);
  console.log(`namespace ${namespace}: ${runs} open workflows, ${broken.length} of which this code cannot go on with`);
  if (broken.length > 0) process.exitCode = 1;
} finally {
  await connection.close();
}
