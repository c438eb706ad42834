import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { ClientsService } from '../auth';
import { WebhookAdministration, type WebhookOverview } from './webhook-administration';
import { CommandGroup, type Commander, ResultCommand } from '../../cli/command/command';
import { CommandFailure } from '../../cli/command/failure';
import { identifier, shortText } from '../../cli/command/option';
import {
  type OutputOptions,
  type Row,
  counted,
  isForPeople,
  printDone,
  printMany,
  printOne,
} from '../../cli/command/output';
import { ListenCommand } from './listen.command';

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
