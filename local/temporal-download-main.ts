import { TestWorkflowEnvironment } from '@temporalio/testing';

// The SDK downloads an executable only on the way to starting a server with it.
const [downloadDir = ''] = process.argv.slice(2);
const environment = await TestWorkflowEnvironment.createLocal({
  server: { executable: { type: 'cached-download', downloadDir } },
});
await environment.teardown();
