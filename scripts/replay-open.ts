import { Client, Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { readSealing } from '../config/env.ts';
import { createCipher } from '../encryption/create-cipher.ts';
import { createPayloadCodec } from '../encryption/payload-codec.ts';
import { replayOpen } from '../worker/replay-open.ts';
import { bundleWorkflowsApart } from '../worker/workflow-bundle.ts';

// Before a deployment: can the workflow code of this tree go on with every workflow that is open where the TEMPORAL_*
// variables point? Reads only; exit code 1 when it cannot.
Runtime.install({ logger: new DefaultLogger('ERROR') });
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const codec = createPayloadCodec(createCipher(readSealing().encryptionKeys), { encodes: false });
const connection = await Connection.connect(connectionOptions);
try {
  const client = new Client({ connection, namespace, dataConverter: { payloadCodecs: [codec] } });
  const { runs, broken } = await replayOpen(client, await bundleWorkflowsApart());
  for (const line of broken) console.error(line);
  console.log(`namespace ${namespace}: ${runs} open workflows, ${broken.length} of which this code cannot go on with`);
  if (broken.length > 0) process.exitCode = 1;
} finally {
  await connection.close();
}
