import { createServer, type Server } from 'node:http';

/** `/healthz` answers while the process lives, `/readyz` once and as long as `isReady` says so. */
export async function startHealthServer(host: string, port: number, isReady: () => boolean): Promise<Server> {
  const server = createServer((request, response) => {
    const known = request.url === '/healthz' || request.url === '/readyz';
    const status = !known ? 404 : request.url === '/healthz' || isReady() ? 200 : 503;
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify({ ready: isReady() }));
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
