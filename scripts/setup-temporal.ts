import { Connection } from '@temporalio/client';
import { loadClientConnectConfig } from '@temporalio/envconfig';
import { registerSearchAttributes, SEARCH_ATTRIBUTE_NAMES } from '../worker/temporal-setup.ts';

// Prepares a Temporal namespace for the gateway's workflows. Harmless to repeat.
const { connectionOptions, namespace = 'default' } = loadClientConnectConfig();
const connection = await Connection.connect(connectionOptions);
await registerSearchAttributes(connection, namespace);
await connection.close();
console.log(`search attributes ready in namespace ${namespace}: ${SEARCH_ATTRIBUTE_NAMES.join(', ')}`);
