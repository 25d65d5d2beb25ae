import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ScriptedServer {
  url: string;
  /** `METHOD /path?query` of each request, in order. */
  requests: string[];
  /** The last request's body. */
  lastBody(): string;
  /** Replies begun whose connection is still there. (A client may hold idle connections ready besides.) */
  openReplies(): number;
  close(): Promise<void>;
}

/** An HTTP server whose replies the test writes by hand, for replies no faithful simulator gives. */
export async function startScriptedServer(
  reply: (request: IncomingMessage, response: ServerResponse) => void,
): Promise<ScriptedServer> {
  const requests: string[] = [];
  let openReplies = 0;
  let body = '';
  const server = createServer((request, response) => {
    requests.push(`${request.method} ${request.url}`);
    openReplies += 1;
    response.on('close', () => {
      openReplies -= 1;
    });
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      body = Buffer.concat(chunks).toString('utf8');
      reply(request, response);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    lastBody: () => body,
    openReplies: () => openReplies,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}

/** Replies with JSON, as a provider does. */
export function sendJson(
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): void {
  response.writeHead(status, { 'content-type': 'application/json', ...headers });
  response.end(JSON.stringify(body));
}
