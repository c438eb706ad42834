import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { within } from './eventually';
import { listen } from './ports';

/** Settings of a service whose webhooks may lead to receivers on loopback addresses. */
export const LOOPBACK_WEBHOOKS = {
  WEBHOOK_KEY: Buffer.alloc(32, 'k').toString('base64'),
  WEBHOOK_NETWORKS: '127.0.0.0/8',
};

export interface Received {
  path: string;
  headers: IncomingMessage['headers'];
  body: string;
  event: { id: string; type: string; timestamp: string; data: Record<string, unknown> };
}

type Answer = (response: ServerResponse, received: Received) => void;

/** A receiver of webhooks on a loopback address. It keeps all requests, and answers 204 until `answer` or `answers` sets another answer. */
export class Receiver {
  readonly received: Received[] = [];
  answer: Answer = (response) => response.writeHead(204).end();
  /** How many connections were opened. */
  connections = 0;
  private readonly server: Server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString();
      const received: Received = {
        path: request.url!,
        headers: request.headers,
        body,
        event: JSON.parse(body) as Received['event'],
      };
      this.received.push(received);
      this.answer(response, received);
    });
  }).on('connection', () => (this.connections += 1));

  static async start(): Promise<Receiver> {
    const receiver = new Receiver();
    await listen(receiver.server);
    return receiver;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}/events`;
  }

  /** Answers later requests with this status and these header fields. */
  answers(status: number, headers: Record<string, string> = {}): void {
    this.answer = (response) => response.writeHead(status, headers).end();
  }

  /** The received events of a type, in the order of arrival. */
  ofType(type: string): Received[] {
    return this.received.filter(({ event }) => event.type === type);
  }

  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.server.close(resolve));
    this.server.closeAllConnections();
    await within('the end of the receiver', closed);
  }
}

/** True if the secret has signed the request. The signature is made again, because `verify` refuses times of a clock that tests move. */
export function isSignedBy(secret: string, { headers, body }: Received): boolean {
  const at = new Date(Number(headers['webhook-timestamp']) * 1_000);
  const signature = new Webhook(secret).sign(headers['webhook-id'] as string, at, body);
  return (headers['webhook-signature'] as string).split(' ').includes(signature);
}
