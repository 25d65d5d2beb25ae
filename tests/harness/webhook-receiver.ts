import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';

export interface ReceivedCall {
  readonly headers: Readonly<Record<string, string>>;
  readonly bytes: Buffer;
}

/** A server that is told of events: it notes what comes, and answers as it is told to. */
export interface WebhookReceiver {
  readonly url: string;
  readonly calls: ReceivedCall[];
  answer: (response: ServerResponse, call: ReceivedCall) => void;
  close(): Promise<void>;
}

export async function startReceiver(): Promise<WebhookReceiver> {
  const calls: ReceivedCall[] = [];
  const server = createServer(async (request, response) => {
    const call = await read(request);
    calls.push(call);
    receiver.answer(response, call);
  });
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const receiver: WebhookReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    calls,
    answer: (response) => response.writeHead(204).end(),
    close: async () => {
      server.closeAllConnections();
      await new Promise((done) => server.close(done));
    },
  };
  return receiver;
}

async function read(request: IncomingMessage): Promise<ReceivedCall> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)]);
  return { headers: Object.fromEntries(headers), bytes: Buffer.concat(chunks) };
}

/** Answers with a status. */
export function answers(status: number, headers: Record<string, string> = {}): WebhookReceiver['answer'] {
  return (response) => response.writeHead(status, headers).end('a body that nobody reads');
}

/** Whether a call bears a signature of the secret, by the time it names. Real time where `verify` is to be asked. */
export function isSignedWith(secret: string, { headers, bytes }: ReceivedCall): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const expected = new Webhook(secret).sign(headers['webhook-id'] ?? '', at, bytes.toString());
  return (headers['webhook-signature'] ?? '').split(' ').includes(expected);
}
