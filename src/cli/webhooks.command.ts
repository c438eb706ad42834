import { Command, Help, Option, SubCommand } from 'nest-commander';
import type { WebhookAdministration, WebhookOverview, WebhookSwitch } from '../modules/webhooks';
import { CommandFailure } from './command-failure';
import { CommandGroup, ReportingCommand, administer, examples } from './command';
import { counted, print, printMany, printOne } from './output';
import { wholeNumber } from './parse';

const BY_OPERATOR = 'The operator disabled it.';

function webhookId(text: string | undefined): number {
  return wholeNumber('<id>', text ?? '', { min: 1, max: Number.MAX_SAFE_INTEGER });
}

interface Services {
  webhooks: WebhookAdministration;
  switches: WebhookSwitch;
}

/** Does something to a webhook that is there. @returns what was done, and the webhook after it */
async function onWebhook<Done>(
  id: number,
  work: (services: Services) => Promise<Done>,
): Promise<{ done: Done; webhook: WebhookOverview }> {
  const { WebhookAdministration: Administration, WebhookSwitch: Switch } = await import(
    '../modules/webhooks/index.js'
  );
  return administer(async (services) => {
    const webhooks = services.get(Administration);
    if ((await webhooks.find(id)) === undefined) {
      throw new CommandFailure(`There is no webhook ${id}.`);
    }
    const done = await work({ webhooks, switches: services.get(Switch) });
    return { done, webhook: (await webhooks.find(id))! };
  });
}

@SubCommand({
  name: 'list',
  description: 'list webhooks; of a URL it shows no path, which may hold a secret',
})
export class ListWebhooksCommand extends ReportingCommand {
  @Option({ flags: '--client <name>', description: 'only webhooks of this client' })
  parseClient(text: string): string {
    return text;
  }

  @Help('after')
  examples(): string {
    return examples('webhooks list', 'webhooks list --client acme --json');
  }

  async run(_arguments: string[], { client, json }: { client?: string; json?: boolean }): Promise<void> {
    const { WebhookAdministration: Administration } = await import('../modules/webhooks/index.js');
    const webhooks = await administer((services) => services.get(Administration).list(client));
    printMany(
      webhooks.map((webhook) => ({ ...webhook })),
      json,
      'There are no webhooks.',
    );
  }
}

@SubCommand({ name: 'show', arguments: '<id>', description: 'show a webhook' })
export class ShowWebhookCommand extends ReportingCommand {
  @Help('after')
  examples(): string {
    return examples('webhooks show 1');
  }

  async run([id]: string[], { json }: { json?: boolean }): Promise<void> {
    const { webhook } = await onWebhook(webhookId(id), () => Promise.resolve());
    printOne({ ...webhook }, json);
  }
}

@SubCommand({
  name: 'enable',
  arguments: '<id>',
  description: 'send events again; deliveries that wait go on',
})
export class EnableWebhookCommand extends ReportingCommand {
  @Help('after')
  examples(): string {
    return examples('webhooks enable 1');
  }

  async run([id]: string[], { json }: { json?: boolean }): Promise<void> {
    const number = webhookId(id);
    const { webhook } = await onWebhook(number, ({ switches }) => switches.enable(number));
    printOne({ ...webhook }, json);
  }
}

@SubCommand({
  name: 'disable',
  arguments: '<id>',
  description: 'send no events any more; the client sees the reason and can enable it again',
})
export class DisableWebhookCommand extends ReportingCommand {
  @Option({ flags: '--reason <text>', description: 'what the client is shown' })
  parseReason(text: string): string {
    return text.slice(0, 200);
  }

  @Help('after')
  examples(): string {
    return examples('webhooks disable 1', 'webhooks disable 1 --reason "It floods our proxy."');
  }

  async run([id]: string[], { reason, json }: { reason?: string; json?: boolean }): Promise<void> {
    const number = webhookId(id);
    const { webhook } = await onWebhook(number, ({ switches }) =>
      switches.disable(number, reason ?? BY_OPERATOR),
    );
    printOne({ ...webhook }, json);
  }
}

@SubCommand({
  name: 'retry',
  arguments: '<id>',
  description: 'send all events again whose delivery to a webhook was given up',
})
export class RetryWebhookCommand extends ReportingCommand {
  @Help('after')
  examples(): string {
    return examples('webhooks retry 1');
  }

  async run([id]: string[], { json }: { json?: boolean }): Promise<void> {
    const number = webhookId(id);
    const { done: retried } = await onWebhook(number, ({ webhooks }) => webhooks.retryFailed(number));
    if (json) {
      printOne({ id: number, retried }, json);
    } else {
      print(`${counted(retried, 'delivery is', 'deliveries are')} due now.`);
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
