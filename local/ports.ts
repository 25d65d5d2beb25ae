import { createServer } from 'node:net';

/** Ports already promised to someone in this process but perhaps not bound yet. */
const promised = new Set<number>();

/**
 * Returns `preferred` when nothing listens there, otherwise a port the system says is free; 0 asks for any free port.
 * No two calls in one process return the same port, so several servers can be given theirs before any of them binds.
 */
export async function choosePort(preferred: number, host = '127.0.0.1'): Promise<number> {
  let port = await claim(preferred, host);
  while (port === undefined) port = await claim(0, host);
  return port;
}

/** The port once it is ours; undefined when it is taken, forbidden, or promised to another caller. */
async function claim(candidate: number, host: string): Promise<number | undefined> {
  const port = await bindOnce(candidate, host);
  if (port === undefined || promised.has(port)) return undefined;
  promised.add(port);
  return port;
}

function bindOnce(port: number, host: string): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const server = createServer();
    server.once('error', (error: NodeJS.ErrnoException) => {
      if (port !== 0 && (error.code === 'EADDRINUSE' || error.code === 'EACCES')) resolve(undefined);
      else reject(error);
    });
    server.listen({ port, host, exclusive: true }, () => {
      const address = server.address();
      server.close(() => resolve(address !== null && typeof address === 'object' ? address.port : undefined));
    });
  });
}
