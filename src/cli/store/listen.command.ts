import { once } from 'node:events';
import { type IncomingMessage, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { SubCommand } from 'nest-commander';
import { Webhook } from 'standardwebhooks';
import { EVENT_TYPES, type EventType } from '../../modules/events';
import { printable } from '../../runtime/messages';
import { PetstoreCommand } from '../command/command';
import { CommandFailure } from '../command/failure';
import { interruptible } from '../command/operator';
import { Value, someOf, wholeNumber } from '../command/option';
import { print } from '../output/output';
import { callService, serviceUrl } from './api.command';

interface NewWebhook {
  id: number;
  secret: string;
}

@SubCommand({
  name: 'listen',
  description: 'receive events on this machine until Ctrl-C, with the key in PETSTORE_KEY, and print them',
})
export class ListenCommand extends PetstoreCommand {
  protected override readonly examples = ['webhooks listen', 'webhooks listen --types order.placed'];
  protected override readonly explanation = `
A webhook of the key's client sends the events here while the command runs. The service must be allowed to call this
machine: start it with WEBHOOK_NETWORKS=127.0.0.0/8.
`;

  @Value('--types <types>', 'only events of these types: order.placed,order.cancelled', someOf(EVENT_TYPES))
  types?: EventType[];

  @Value('--port <port>', 'port of the receiver (default: a free one)', wholeNumber(1, 65_535)) port?: number;
  @Value('--url <url>', 'address of the service (default: from HOST and PORT)', serviceUrl) url?: string;

  run(): Promise<void> {
    return interruptible('the webhook is deleted', async (signal) => {
      const receiver = createServer();
      receiver.listen(this.port ?? 0, '127.0.0.1');
      await once(receiver, 'listening');
      try {
        await this.receive(`http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`, receiver, signal);
      } finally {
        receiver.close();
        receiver.closeAllConnections();
      }
    });
  }

  /** Creates a webhook to the receiver, prints what arrives until the signal, and deletes the webhook. */
  private async receive(address: string, receiver: ReturnType<typeof createServer>, signal: AbortSignal) {
    const { id, secret } = await this.createWebhook(address);
    const verifier = new Webhook(secret);
    receiver.on('request', (request, response) => void receiveOne(verifier, request, response));
    try {
      print(`Webhook ${id} sends events to ${address} until Ctrl-C. Its secret is ${secret}`);
      await once(signal, 'abort');
      signal.throwIfAborted();
    } finally {
      await callService({ method: 'DELETE', path: `/webhooks/${id}`, url: this.url });
    }
  }

  private async createWebhook(address: string): Promise<NewWebhook> {
    const body = { url: address, description: 'petstore webhooks listen', types: this.types };
    const response = await callService({ method: 'POST', path: '/webhooks', body, url: this.url });
    const result = (await response.json()) as NewWebhook & { code: string; message: string };
    if (!response.ok) {
      const hint =
        result.code === 'webhook_url_not_allowed'
          ? ' Start the service with WEBHOOK_NETWORKS=127.0.0.0/8.'
          : '';
      throw new CommandFailure(`${result.message}${hint}`, { code: result.code });
    }
    return result;
  }
}

async function receiveOne(verifier: Webhook, request: IncomingMessage, response: ServerResponse) {
  const body = await text(request);
  let status = 204;
  try {
    verifier.verify(body, request.headers as Record<string, string>);
    print(`${new Date().toISOString()}  verified  ${printable(body)}`);
  } catch (error) {
    status = 401;
    print(`${new Date().toISOString()}  REFUSED: ${printable((error as Error).message)}  ${printable(body)}`);
  }
  response.writeHead(status).end();
}
