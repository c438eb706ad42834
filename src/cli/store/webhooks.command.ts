import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { WebhookAdministration, type WebhookOverview } from '../../modules/webhooks';
import { ChangingCommand, CommandGroup, ListingCommand, ResultCommand } from '../command/command';
import { CommandFailure } from '../command/failure';
import { Value, anyText, identifier } from '../command/option';
import { type Row, counted, isForPeople, printDone, printMany, printOne } from '../output/output';
import { ListenCommand } from './listen.command';

/** Shown to the client if the operator gives no reason. */
const BY_OPERATOR = 'The operator disabled it.';

/** @throws CommandFailure if there is no such webhook */
async function existing(webhooks: WebhookAdministration, id: number): Promise<WebhookOverview> {
  const webhook = await webhooks.find(id);
  if (webhook === undefined) {
    throw new CommandFailure(`There is no webhook ${id}.`);
  }
  return webhook;
}

/** For people, "all" instead of the null of the API, which a table shows as a dash. */
function describe(webhook: WebhookOverview, options: ResultCommand): Row {
  return { ...webhook, types: webhook.types ?? (isForPeople(options) ? 'all' : null) };
}

@SubCommand({
  name: 'list',
  description: 'list webhooks; URLs are shown without their path, which may contain a secret',
})
export class ListWebhooksCommand extends ListingCommand {
  protected override readonly examples = ['webhooks list', 'webhooks list --client acme --sort -pending'];
  @Inject() private readonly webhooks!: WebhookAdministration;

  @Value('--client <name>', 'only webhooks of this client', anyText) client?: string;

  async run(): Promise<void> {
    await this.store.open();
    const rows = (await this.webhooks.list(this.client)).map((webhook) => describe(webhook, this));
    await printMany(rows, this, 'There are no webhooks.');
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a webhook' })
export class ShowWebhookCommand extends ResultCommand {
  protected override readonly examples = ['webhooks show 1', 'webhooks show 1 --json'];
  @Inject() private readonly webhooks!: WebhookAdministration;

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open();
    await printOne(describe(await existing(this.webhooks, id), this), this);
  }
}

/** A command that changes a webhook, and shows it afterwards. */
abstract class WebhookChangeCommand extends ChangingCommand {
  @Inject() protected readonly webhooks!: WebhookAdministration;

  protected abstract change(id: number): Promise<unknown>;

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open(this.reason);
    await existing(this.webhooks, id);
    await this.change(id);
    await printOne(describe(await existing(this.webhooks, id), this), this);
  }
}

@SubCommand({
  name: 'enable',
  arguments: '<id>',
  description: 'send events again; pending deliveries continue',
})
export class EnableWebhookCommand extends WebhookChangeCommand {
  protected override readonly examples = ['webhooks enable 1'];

  protected override change(id: number) {
    return this.webhooks.enable(id);
  }
}

@SubCommand({
  name: 'disable',
  arguments: '<id>',
  description: 'send no more events; the client sees the reason, and can enable the webhook again',
})
export class DisableWebhookCommand extends WebhookChangeCommand {
  protected override readonly examples = ['webhooks disable 1 --reason "Your receiver floods our proxy."'];

  protected override change(id: number) {
    return this.webhooks.disable(id, this.reason ?? BY_OPERATOR);
  }
}

@SubCommand({ name: 'retry', arguments: '<id>', description: 'retry all failed deliveries of a webhook' })
export class RetryWebhookCommand extends ChangingCommand {
  protected override readonly examples = ['webhooks retry 1'];
  @Inject() private readonly webhooks!: WebhookAdministration;

  async run([text = '']: string[]): Promise<void> {
    const id = identifier(text);
    await this.store.open(this.reason);
    await existing(this.webhooks, id);
    const retried = await this.webhooks.retryFailed(id);
    const sentence = `${counted(retried, 'delivery is', 'deliveries are')} due now.`;
    await printDone(sentence, { id, retried }, this);
  }
}

@Command({
  name: 'webhooks',
  description: 'show, enable and disable webhooks, retry their deliveries, and receive events',
  subCommands: [
    ListWebhooksCommand,
    ShowWebhookCommand,
    EnableWebhookCommand,
    DisableWebhookCommand,
    RetryWebhookCommand,
    ListenCommand,
  ],
})
export class WebhooksCommand extends CommandGroup {}
