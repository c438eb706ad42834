import { once } from 'node:events';
import { type IncomingMessage, type Server, type ServerResponse, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text as textOf } from 'node:stream/consumers';
import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { Webhook } from 'standardwebhooks';
import { ClientsService } from '../modules/auth';
import { EVENT_TYPES, type EventType } from '../modules/events';
import { WebhookAdministration, type WebhookOverview } from '../modules/webhooks';
import { PETSTORE, printable } from '../runtime/messages';
import { URL_OPTION, callService, serviceUrl } from './api.command';
import { ONLY_TYPES } from './events.command';
import { CommandGroup, type Commander, PetstoreCommand, ResultCommand } from './command/command';
import { CommandFailure } from './command/failure';
import { interruptible } from './command/operator';
import { identifier, shortText, someOf } from './command/option';
import {
  type OutputOptions,
  type Row,
  counted,
  isForPeople,
  print,
  printDone,
  printMany,
  printOne,
} from './command/output';

/** Shown to the client if the operator gives no reason. */
const BY_OPERATOR = 'The operator disabled it.';

/** For people, "all" instead of the null of the API, which a table shows as a dash. */
function describe(webhook: WebhookOverview, options: OutputOptions): Row {
  return { ...webhook, types: webhook.types ?? (isForPeople(options) ? 'all' : null) };
}

/** A command on one webhook. */
abstract class WebhookCommand extends ResultCommand {
  @Inject() protected readonly webhooks!: WebhookAdministration;

  /** @throws CommandFailure if there is no such webhook */
  protected async existing(text: string): Promise<WebhookOverview> {
    const id = identifier(text);
    await this.store.open();
    const webhook = await this.webhooks.find(id);
    if (webhook === undefined) {
      throw new CommandFailure(`There is no webhook ${id}.`, { code: 'webhook_not_found' });
    }
    return webhook;
  }

  protected async show(id: string, options: OutputOptions): Promise<void> {
    printOne(describe(await this.existing(id), options), options);
  }
}

@SubCommand({
  name: 'list',
  description: 'list webhooks; URLs are shown without their path, which may contain a secret',
})
export class ListWebhooksCommand extends ResultCommand {
  protected override readonly examples = ['webhooks list', 'webhooks list --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly webhooks!: WebhookAdministration;

  override accept(commander: Commander): void {
    commander.option('--client <name>', 'only webhooks of this client');
  }

  async work(_inputs: string[], options: OutputOptions & { client?: string }): Promise<void> {
    await this.store.open();
    if (options.client !== undefined) {
      await this.clients.named(options.client);
    }
    const rows = (await this.webhooks.list(options.client)).map((webhook) => describe(webhook, options));
    printMany(rows, options, 'There are no webhooks.');
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a webhook' })
export class ShowWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks show 1', 'webhooks show 1 --json'];

  work([id = '']: string[], options: OutputOptions): Promise<void> {
    return this.show(id, options);
  }
}

@SubCommand({
  name: 'enable',
  arguments: '<id>',
  description: 'send events again; pending deliveries continue',
})
export class EnableWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks enable 1'];

  async work([text = '']: string[], options: OutputOptions): Promise<void> {
    const { id } = await this.existing(text);
    await this.webhooks.enable(id);
    await this.show(text, options);
  }
}

@SubCommand({
  name: 'disable',
  arguments: '<id>',
  description: 'send no more events; the client sees the reason, and can enable the webhook again',
})
export class DisableWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks disable 1 --reason "Your receiver floods our proxy."'];

  override accept(commander: Commander): void {
    commander.option('--reason <text>', 'shown to the client', shortText(500));
  }

  async work([text = '']: string[], options: OutputOptions & { reason?: string }): Promise<void> {
    const { id } = await this.existing(text);
    await this.webhooks.disable(id, options.reason ?? BY_OPERATOR);
    await this.show(text, options);
  }
}

@SubCommand({
  name: 'test',
  arguments: '<id>',
  description: 'send a test event, whatever types the webhook has',
})
export class TestWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks test 1'];

  async work([text = '']: string[], options: OutputOptions): Promise<void> {
    const { id } = await this.existing(text);
    const event = await this.webhooks.test(id);
    printDone(`Event ${event} is due now.`, { id, event }, options);
  }
}

@SubCommand({ name: 'retry', arguments: '<id>', description: 'retry all failed deliveries of a webhook' })
export class RetryWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks retry 1'];

  async work([text = '']: string[], options: OutputOptions): Promise<void> {
    const { id } = await this.existing(text);
    const retried = await this.webhooks.retryFailed(id);
    const sentence = `${counted(retried, 'delivery is', 'deliveries are')} due now.`;
    printDone(sentence, { id, retried }, options);
  }
}

interface ListenOptions {
  types?: EventType[];
  forwardTo?: string;
  url?: string;
}

interface NewWebhook {
  id: number;
  secret: string;
}

@SubCommand({
  name: 'listen',
  description: 'receive events on this machine until Ctrl-C, with the key in PETSTORE_KEY, and print them',
})
export class ListenCommand extends PetstoreCommand {
  protected override readonly examples = [
    'webhooks listen --types order.placed',
    'webhooks listen --forward-to http://127.0.0.1:8080/hook',
  ];
  protected override explanation(): string {
    return `
A webhook of the key's client sends the events here while the command runs. The service must be allowed to call this
machine: start it with WEBHOOK_NETWORKS=127.0.0.0/8.
`;
  }

  override accept(commander: Commander): void {
    commander
      .option('--types <types>', ONLY_TYPES, someOf(EVENT_TYPES))
      .option('--forward-to <url>', 'send each verified event on, with its signature', serviceUrl)
      .option(...URL_OPTION);
  }

  work(_inputs: string[], options: ListenOptions): Promise<void> {
    return interruptible('the webhook is deleted', async (signal) => {
      const receiver = createServer();
      receiver.listen(0, '127.0.0.1');
      await once(receiver, 'listening');
      try {
        await receiveUntil(signal, receiver, options);
      } finally {
        receiver.close();
        receiver.closeAllConnections();
      }
    });
  }
}

/** Creates a webhook to the receiver, prints what arrives until the signal, and deletes the webhook. */
async function receiveUntil(signal: AbortSignal, receiver: Server, options: ListenOptions): Promise<void> {
  const address = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/`;
  // Is not interrupted: the service may have created it when it could no longer say so.
  const { id, secret } = await createWebhook(address, options);
  try {
    const verifier = new Webhook(secret);
    receiver.on('request', (request, response) => {
      void receiveOne(verifier, options.forwardTo, request, response);
    });
    if (!signal.aborted) {
      print(`Webhook ${id} sends events to ${address} until Ctrl-C. Its secret is ${secret}`);
      // The reader of the output may leave first.
      await Promise.race([once(signal, 'abort'), once(process.stdout, 'error')]);
    }
  } finally {
    await deleteWebhook(id, options.url);
  }
  signal.throwIfAborted();
}

/** The most that the service may take to answer. */
const ANSWER_MS = 10_000;

async function createWebhook(address: string, { types, url }: ListenOptions): Promise<NewWebhook> {
  const body = { url: address, description: 'petstore webhooks listen', types };
  const request = { method: 'POST', path: '/webhooks', body, url, timeoutMs: ANSWER_MS };
  const response = await callService(request);
  const result = (await response.json()) as NewWebhook & { code: string; message: string };
  if (!response.ok) {
    const refused = result.code === 'webhook_url_not_allowed';
    const hint = refused ? ' Start the service with WEBHOOK_NETWORKS=127.0.0.0/8.' : '';
    throw new CommandFailure(`${result.message}${hint}`, { code: result.code });
  }
  return result;
}

async function deleteWebhook(id: number, url?: string): Promise<void> {
  const request = { method: 'DELETE', path: `/webhooks/${id}`, url, timeoutMs: ANSWER_MS };
  const status = await callService(request).then(
    (response) => response.status,
    () => 'nothing',
  );
  if (status !== 204 && status !== 404) {
    const again = `${PETSTORE} api DELETE /webhooks/${id}`;
    const message = `webhook ${id} is still there: the service answered ${status} to its deletion. Delete it: ${again}`;
    throw new CommandFailure(message, { code: 'webhook_not_deleted' });
  }
}

async function receiveOne(
  verifier: Webhook,
  forwardTo: string | undefined,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> {
  const body = await textOf(request);
  let status = 401;
  try {
    verifier.verify(body, request.headers as Record<string, string>);
    status = forwardTo === undefined ? 204 : await forward(forwardTo, request, body);
    const outcome = forwardTo === undefined ? 'verified' : `verified, ${forwardTo} answered ${status}`;
    print(`${new Date().toISOString()}  ${outcome}  ${printable(body)}`);
  } catch (error) {
    print(`${new Date().toISOString()}  REFUSED: ${printable((error as Error).message)}  ${printable(body)}`);
  }
  response.writeHead(status).end();
}

/** Sends a delivery on as it came. @returns the status for the service: 502 if nobody answers */
async function forward(url: string, { headers }: IncomingMessage, body: string): Promise<number> {
  const names = ['content-type', 'webhook-id', 'webhook-timestamp', 'webhook-signature'];
  const passed = Object.fromEntries(names.map((name) => [name, String(headers[name])]));
  const request = { method: 'POST', headers: passed, body, redirect: 'manual' as const };
  return fetch(url, { ...request, signal: AbortSignal.timeout(ANSWER_MS) }).then(
    ({ status }) => status,
    () => 502,
  );
}

@Command({
  name: 'webhooks',
  description: 'show, enable, disable and test webhooks, retry their deliveries, and receive events',
  subCommands: [
    ListWebhooksCommand,
    ShowWebhookCommand,
    EnableWebhookCommand,
    DisableWebhookCommand,
    TestWebhookCommand,
    RetryWebhookCommand,
    ListenCommand,
  ],
})
export class WebhooksCommand extends CommandGroup {}
