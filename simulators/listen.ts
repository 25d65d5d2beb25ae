import { Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createAdaptorServer } from '@hono/node-server';

export interface Listening {
  /** The origin, without a path. */
  url: string;
  /** Ends open connections too. */
  close(): Promise<void>;
}

type Fetch = Parameters<typeof createAdaptorServer>[0]['fetch'];

/** Serves on a port, any free one when it is 0. */
export async function listen(fetch: Fetch, host: string, port: number): Promise<Listening> {
  // The process may be a test or the whole local stack: its own Request and Response stay as they are.
  const server = createAdaptorServer({ fetch, overrideGlobalObjects: false });
  if (!(server instanceof Server)) throw new Error('the adapter gave no HTTP/1 server');
  // Uploads of hundreds of megabytes may take longer than the default five minutes.
  server.requestTimeout = 0;
  // Longer than clients keep idle connections, so that none is closed under a request being sent.
  server.keepAliveTimeout = 75_000;
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject).listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  const name = address.family === 'IPv6' ? `[${address.address}]` : address.address;
  return {
    url: `http://${name}:${address.port}`,
    close: () =>
      new Promise((resolve, reject) => {
        server.close((error) => (error ? reject(error) : resolve()));
        server.closeAllConnections();
      }),
  };
}
