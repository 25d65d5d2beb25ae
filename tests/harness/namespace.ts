import { randomUUID } from 'node:crypto';
import { Connection } from '@temporalio/client';
import { registerSearchAttributes } from '../../worker/temporal-setup.ts';
import { eventually } from './eventually.ts';

/** A namespace of its own on a shared server, with our search attributes: workers poll fixed queue names. */
export async function createNamespace(address: string): Promise<string> {
  const connection = await Connection.connect({ address });
  try {
    const namespace = `test-${randomUUID()}`;
    await connection.workflowService.registerNamespace({
      namespace,
      workflowExecutionRetentionPeriod: { seconds: 86_400 as unknown as Long },
    });
    await eventually(() =>
      registerSearchAttributes(connection, namespace).then(
        () => true,
        () => false,
      ),
    );
    return namespace;
  } finally {
    await connection.close();
  }
}

type Long = NonNullable<
  NonNullable<
    Parameters<Connection['workflowService']['registerNamespace']>[0]['workflowExecutionRetentionPeriod']
  >['seconds']
>;
