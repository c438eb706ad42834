import { setTimeout as pause } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Command, SubCommand } from 'nest-commander';
import { CommandGroup, type Commander, StoreCommand } from '../../cli/command/command';
import { CommandFailure } from '../../cli/command/failure';
import { identifier, shortText } from '../../cli/command/option';
import {
  type OutputOptions,
  type Row,
  counted,
  printDone,
  printMany,
  printOne,
} from '../../cli/command/output';
import { PETSTORE } from '../../runtime/messages';
import { ClientsService } from '../auth';
import { ListenCommand } from './listen.command';
import { shownUrl } from './webhook.entity';
import { OPERATOR, type WebhookOverview, WebhooksService } from './webhooks.service';

/** Shown to the client if the operator gives no reason. */
const BY_OPERATOR = 'The operator disabled it.';
/** How long a test event is awaited, and how often it is looked at: a receiver may take fifteen seconds. */
const TEST_MS = 20_000;
const TEST_POLL_MS = 200;

type Input = [id: number];

/** Without secrets. For people, "all" instead of null, which a table shows as a dash. */
function describe({ webhook, client, pending, failed }: WebhookOverview, { json }: OutputOptions): Row {
  return {
    id: webhook.id,
    client,
    url: shownUrl(webhook.url),
    types: webhook.types ?? (json ? null : 'all'),
    state: webhook.enabled ? 'enabled' : 'disabled',
    reason: webhook.disabledReason,
    failingSince: webhook.failingSince,
    pending,
    failed,
  };
}

abstract class WebhookCommand extends StoreCommand {
  @Inject() protected readonly webhooks!: WebhooksService;

  protected override declare(command: Commander): void {
    command.argument('<id>', 'id of the webhook', identifier);
  }

  protected async existing(id: number): Promise<WebhookOverview> {
    const [overview] = await this.webhooks.overviews({ id });
    if (overview === undefined) {
      throw new CommandFailure(`There is no webhook ${id}.`, { code: 'webhook_not_found' });
    }
    return overview;
  }

  protected async show(id: number, options: OutputOptions): Promise<void> {
    printOne(describe(await this.existing(id), options), options);
  }
}

@SubCommand({
  name: 'list',
  description: 'list webhooks; values in the query of a URL, which may be secret, are hidden',
})
export class ListWebhooksCommand extends StoreCommand {
  protected override readonly examples = ['webhooks list', 'webhooks list --client acme'];
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly webhooks!: WebhooksService;

  protected override declare(command: Commander): void {
    command.option('--client <name>', 'only webhooks of this client');
  }

  protected async execute(_inputs: [], options: OutputOptions & { client?: string }): Promise<void> {
    if (options.client !== undefined) {
      await this.clients.named(options.client);
    }
    const overviews = await this.webhooks.overviews({ client: options.client });
    const rows = overviews.map((overview) => describe(overview, options));
    printMany(rows, options, 'There are no webhooks.');
  }
}

@SubCommand({ name: 'show', description: 'show a webhook' })
export class ShowWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks show 1', 'webhooks show 1 --json'];

  protected execute([id]: Input, options: OutputOptions): Promise<void> {
    return this.show(id, options);
  }
}

@SubCommand({ name: 'enable', description: 'send events again; pending deliveries continue' })
export class EnableWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks enable 1'];

  protected async execute([id]: Input, options: OutputOptions): Promise<void> {
    await this.webhooks.switch(id, true);
    await this.show(id, options);
  }
}

@SubCommand({
  name: 'disable',
  description: 'send no more events; the client sees the reason, and can enable the webhook again',
})
export class DisableWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks disable 1 --reason "Your receiver floods our proxy."'];

  protected override declare(command: Commander): void {
    super.declare(command);
    command.option('--reason <text>', 'shown to the client', shortText(500));
  }

  protected async execute([id]: Input, options: OutputOptions & { reason?: string }): Promise<void> {
    await this.webhooks.switch(id, false, options.reason ?? BY_OPERATOR);
    await this.show(id, options);
  }
}

@SubCommand({
  name: 'test',
  description: 'send a test event, whatever types the webhook has, and show what the receiver answers',
})
export class TestWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks test 1'];

  protected async execute([id]: Input, options: OutputOptions): Promise<void> {
    const { enabled } = (await this.existing(id)).webhook;
    const { id: deliveryId, eventId } = await this.webhooks.test(id, OPERATOR);
    const attempt = enabled ? await this.attemptOf(deliveryId) : undefined;
    const { responseStatus = null, error = null } = attempt ?? {};
    const missing = enabled
      ? `no service has sent it yet; see ${PETSTORE} status`
      : 'the webhook is disabled';
    const outcome = attempt === undefined ? missing : (responseStatus ?? error);
    const row = { id, event: eventId, status: responseStatus, error };
    printDone(`${eventId} → ${outcome}`, row, options);
  }

  /** The delivery once it has been tried; undefined if no service does so in time. */
  private async attemptOf(deliveryId: number) {
    for (let waited = 0; waited < TEST_MS; waited += TEST_POLL_MS) {
      const delivery = await this.webhooks.delivery(deliveryId);
      if (delivery?.lastAttemptAt) {
        return delivery;
      }
      await pause(TEST_POLL_MS);
    }
    return undefined;
  }
}

@SubCommand({ name: 'retry', description: 'retry all failed deliveries of a webhook' })
export class RetryWebhookCommand extends WebhookCommand {
  protected override readonly examples = ['webhooks retry 1'];

  protected async execute([id]: Input, options: OutputOptions): Promise<void> {
    await this.existing(id);
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
