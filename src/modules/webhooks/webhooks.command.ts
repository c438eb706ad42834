import { setTimeout as pause } from 'node:timers/promises';
import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import {
  argumentOrOption,
  CommandGroup,
  type Commander,
  type OutputOptions,
  Subcommand,
  identifier,
  pluralized,
  printDone,
  printMany,
  printOne,
  shortText,
  untilInterrupted,
  wholeNumber,
} from '#libs/command-line';
import { type CallerId, SERVICE_CALLER_ID } from '#libs/database';
import { OperatorError } from '#libs/messages';
import { PETSTORE } from '../../program';
import { RunningService } from '../../service-access';
import { ClientsService } from '../auth';
import { LISTEN, type ListenOptions, listen } from './listen';
import { WebhookAdministrationService, type WebhookOverview } from './webhook-administration.service';
import { shownUrl } from './webhook.entity';
import type { DeliveryDto } from './webhooks.dto';
import { WebhooksService } from './webhooks.service';

const BY_OPERATOR = 'The operator disabled the webhook.';
/** How long the command waits for the result of a test event. A receiver may take up to 15 seconds. */
const TEST_MS = 20_000;
const TEST_POLL_MS = 200;

/**
 * Describes a webhook without its secrets. `types` is null if the webhook receives all types of events. A table shows
 * "all" instead, because a table shows null as a dash.
 */
function describe({ webhook, client, pending, failed }: WebhookOverview, { json }: OutputOptions): object {
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

function describeDelivery(delivery: DeliveryDto): object {
  const { id, eventId, type, status, attempts, responseStatus = null, error = null } = delivery;
  const timeOf = (at?: string) => (at === undefined ? null : new Date(at));
  const createdAt = timeOf(delivery.createdAt);
  const lastAttemptAt = timeOf(delivery.lastAttemptAt);
  const nextAttemptAt = timeOf(delivery.nextAttemptAt);
  const times = { createdAt, lastAttemptAt, nextAttemptAt };
  return { id, eventId, type, status, attempts, responseStatus, error, ...times };
}

function declareWebhook(command: Commander): Commander {
  return command.argument('<id>', 'id of the webhook', identifier);
}

@Command({
  name: 'webhooks',
  description: 'show, enable, disable and test webhooks, retry their deliveries, and receive events',
})
export class WebhooksCommand extends CommandGroup {
  @Inject() private readonly clients!: ClientsService;
  @Inject() private readonly webhooks!: WebhooksService;
  @Inject() private readonly administration!: WebhookAdministrationService;
  @Inject() private readonly service!: RunningService;

  @Subcommand({
    description: 'list webhooks; values in the query of a URL, which may be secret, are hidden',
    examples: ['webhooks list', 'webhooks list acme'],
    declare: (command) =>
      argumentOrOption(command, '--client <client>', 'only webhooks of the client of this name or id'),
  })
  async list(reference: string | undefined, options: OutputOptions): Promise<void> {
    const client = reference === undefined ? undefined : (await this.clients.get(reference)).name;
    const overviews = await this.administration.overviews({ client });
    const rows = overviews.map((overview) => describe(overview, options));
    const lessImportant = ['types', 'failingSince', 'reason', 'failed', 'client'];
    printMany(rows, options, 'There are no webhooks.', lessImportant);
  }

  @Subcommand({
    description: 'show a webhook',
    examples: ['webhooks show 1', 'webhooks show 1 --json'],
    declare: declareWebhook,
  })
  async show(id: number, options: OutputOptions): Promise<void> {
    printOne(describe(await this.existing(id), options), options);
  }

  @Subcommand({
    description: 'enable a webhook: new events are sent again, and pending deliveries continue',
    examples: ['webhooks enable 1'],
    declare: declareWebhook,
  })
  async enable(id: number, options: OutputOptions): Promise<void> {
    await this.administration.setEnabled(id, true);
    await this.show(id, options);
  }

  @Subcommand({
    description: 'disable a webhook; the client sees the reason, and can enable the webhook again',
    examples: ['webhooks disable 1 --reason "Your receiver floods our proxy."'],
    declare: (command) =>
      declareWebhook(command).option('--reason <text>', 'reason that is shown to the client', shortText(500)),
  })
  async disable(id: number, options: OutputOptions & { reason?: string }): Promise<void> {
    await this.administration.setEnabled(id, false, options.reason ?? BY_OPERATOR);
    await this.show(id, options);
  }

  @Subcommand({
    description:
      'send a test event, whatever types the webhook has; fails with the reason if the event does not arrive',
    examples: ['webhooks test 1'],
    declare: declareWebhook,
  })
  async test(id: number, options: OutputOptions): Promise<void> {
    const clientId = await this.ownerOf(id);
    const source = { callerId: SERVICE_CALLER_ID };
    const { id: deliveryId, eventId } = await this.webhooks.test(id, clientId, source);
    const isPaused = (await this.endOfPause(id)) > Date.now() + TEST_MS;
    const attempt = isPaused ? undefined : await this.attemptOf(deliveryId);
    const { responseStatus: status, error } = attempt ?? { error: await this.reasonUnsent(id) };
    if (error !== null) {
      throw new OperatorError(`${eventId}: ${error}`, 'delivery_failed');
    }
    printDone(`${eventId} → ${status}`, { id, event: eventId, status, error }, options);
  }

  @Subcommand({
    description: 'show the last deliveries of a webhook, with the time of the next attempt of pending ones',
    examples: ['webhooks deliveries 1', 'webhooks deliveries 1 --limit 100 --json'],
    declare: (command) =>
      declareWebhook(command).option('--limit <deliveries>', 'maximum number', wholeNumber(1, 100), 20),
  })
  async deliveries(id: number, options: OutputOptions & { limit: number }): Promise<void> {
    const clientId = await this.ownerOf(id);
    const { entries } = await this.webhooks.listDeliveries(id, { limit: options.limit }, clientId);
    const lessImportant = ['eventId', 'createdAt', 'responseStatus', 'lastAttemptAt', 'type'];
    printMany(entries.map(describeDelivery), options, 'There are no deliveries.', lessImportant);
  }

  @Subcommand({
    description: 'retry all failed deliveries of a webhook',
    examples: ['webhooks retry 1'],
    declare: declareWebhook,
  })
  async retry(id: number, options: OutputOptions): Promise<void> {
    const { enabled } = (await this.existing(id)).webhook;
    const retried = await this.administration.retryFailed(id);
    const due = `${pluralized(retried, 'delivery is', 'deliveries are')} due`;
    const disabled = `${due}, but the webhook is disabled. To send: ${PETSTORE} webhooks enable ${id}`;
    printDone(enabled ? `${due} now.` : disabled, { id, retried }, options);
  }

  @Subcommand(LISTEN)
  listen(options: ListenOptions): Promise<void> {
    return untilInterrupted((signal) => listen(options, this.service, signal), 'no more events are shown');
  }

  private async ownerOf(id: number): Promise<CallerId> {
    return (await this.existing(id)).webhook.clientId as CallerId;
  }

  private async existing(id: number): Promise<WebhookOverview> {
    const [overview] = await this.administration.overviews({ id });
    if (overview === undefined) {
      throw new OperatorError(`There is no webhook ${id}.`, 'webhook_not_found');
    }
    return overview;
  }

  /** Returns why no instance has sent an event to the webhook in time. */
  private async reasonUnsent(id: number): Promise<string> {
    const end = await this.endOfPause(id);
    return end > Date.now()
      ? `The event waits until ${new Date(end).toJSON()}, because earlier deliveries to the webhook have failed. To send the event now: ${PETSTORE} webhooks enable ${id}`
      : `No instance of the service has sent the event yet; see ${PETSTORE} status.`;
  }

  /** Returns the time, in unix milliseconds, before which nothing is sent to the webhook; 0 if there is no such time. */
  private async endOfPause(id: number): Promise<number> {
    const { pausedUntil, probeAfter } = (await this.existing(id)).webhook;
    return Math.max(Number(pausedUntil), Number(probeAfter));
  }

  private async attemptOf(deliveryId: number) {
    for (let waited = 0; waited < TEST_MS; waited += TEST_POLL_MS) {
      const delivery = await this.administration.delivery(deliveryId);
      if (delivery?.lastAttemptAt) {
        return delivery;
      }
      await pause(TEST_POLL_MS);
    }
    return undefined;
  }
}
