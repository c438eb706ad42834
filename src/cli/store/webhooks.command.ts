import { Command, Option, SubCommand } from 'nest-commander';
import type { WebhookAdministration, WebhookOverview, WebhookActivation } from '../../modules/webhooks';
import {
  type ChangeOptions,
  ChangingCommand,
  CommandGroup,
  ListingCommand,
  ReportingCommand,
  administer,
} from '../command/command';
import { CommandFailure } from '../command/command-failure';
import { type OutputOptions, counted, isForPeople, print, printMany, printOne } from '../output/output';
import { identifier } from '../command/parse';

/** Shown to the client if the operator gives no reason. */
const BY_OPERATOR = 'The operator disabled it.';

interface Services {
  webhooks: WebhookAdministration;
  switches: WebhookActivation;
}

/** Runs work on an existing webhook. @returns its result, and the webhook after it */
async function onWebhook<Done>(
  id: number,
  work: (services: Services) => Promise<Done>,
  reason?: string,
): Promise<{ done: Done; webhook: WebhookOverview }> {
  const modules = await import('../../modules/webhooks/index.js');
  return administer(async (services) => {
    const webhooks = services.get(modules.WebhookAdministration);
    if ((await webhooks.find(id)) === undefined) {
      throw new CommandFailure(`There is no webhook ${id}.`);
    }
    const done = await work({ webhooks, switches: services.get(modules.WebhookActivation) });
    return { done, webhook: (await webhooks.find(id))! };
  }, reason);
}

@SubCommand({
  name: 'list',
  description: 'list webhooks; URLs are shown without their path, which may contain a secret',
})
export class ListWebhooksCommand extends ListingCommand {
  protected override readonly examples = ['webhooks list', 'webhooks list --client acme --sort -pending'];

  @Option({ flags: '--client <name>', description: 'only webhooks of this client' })
  parseClient(text: string): string {
    return text;
  }

  async run(_arguments: string[], options: OutputOptions & { client?: string }): Promise<void> {
    const modules = await import('../../modules/webhooks/index.js');
    const webhooks = await administer((services) =>
      services.get(modules.WebhookAdministration).list(options.client),
    );
    const rows = webhooks.map((webhook) => ({ ...webhook }));
    await printMany(rows, options, 'There are no webhooks.');
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a webhook' })
export class ShowWebhookCommand extends ReportingCommand {
  protected override readonly examples = ['webhooks show 1', 'webhooks show 1 --json'];

  async run([id = '']: string[], options: OutputOptions): Promise<void> {
    const { webhook } = await onWebhook(identifier('<id>', id), () => Promise.resolve());
    await printOne({ ...webhook }, options);
  }
}

@SubCommand({
  name: 'enable',
  arguments: '<id>',
  description: 'send events again; pending deliveries continue',
})
export class EnableWebhookCommand extends ChangingCommand {
  protected override readonly examples = ['webhooks enable 1'];

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const id = identifier('<id>', text);
    const { webhook } = await onWebhook(id, ({ switches }) => switches.enable(id), options.reason);
    await printOne({ ...webhook }, options);
  }
}

@SubCommand({
  name: 'disable',
  arguments: '<id>',
  description: 'send no more events; the client sees the reason, and can enable the webhook again',
})
export class DisableWebhookCommand extends ChangingCommand {
  protected override readonly examples = ['webhooks disable 1 --reason "Your receiver floods our proxy."'];

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const id = identifier('<id>', text);
    const { reason } = options;
    const { webhook } = await onWebhook(
      id,
      ({ switches }) => switches.disable(id, reason ?? BY_OPERATOR),
      reason,
    );
    await printOne({ ...webhook }, options);
  }
}

@SubCommand({
  name: 'retry',
  arguments: '<id>',
  description: 'retry all failed deliveries of a webhook',
})
export class RetryWebhookCommand extends ChangingCommand {
  protected override readonly examples = ['webhooks retry 1'];

  async run([text = '']: string[], options: ChangeOptions): Promise<void> {
    const id = identifier('<id>', text);
    const { done: retried } = await onWebhook(id, ({ webhooks }) => webhooks.retryFailed(id), options.reason);
    if (isForPeople(options)) {
      print(`${counted(retried, 'delivery is', 'deliveries are')} due now.`);
    } else {
      await printOne({ id, retried }, options);
    }
  }
}

@Command({
  name: 'webhooks',
  description: 'show, enable and disable webhooks, and retry their deliveries',
  subCommands: [
    ListWebhooksCommand,
    ShowWebhookCommand,
    EnableWebhookCommand,
    DisableWebhookCommand,
    RetryWebhookCommand,
  ],
})
export class WebhooksCommand extends CommandGroup {}

export const WEBHOOK_COMMANDS = [
  WebhooksCommand,
  ListWebhooksCommand,
  ShowWebhookCommand,
  EnableWebhookCommand,
  DisableWebhookCommand,
  RetryWebhookCommand,
];
