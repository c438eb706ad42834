import { createHmac } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { PetStoreError, type Retry, type StoreEvent, createPetStoreClient } from '#libs/client';
import { type SubcommandDeclaration, print, commaSeparatedOption } from '#libs/command-line';
import { OperatorError, UsageError, formatError, printable, printableJson } from '#libs/messages';
import { type RunningService, URL_OPTION, keyInEnvironment, serviceUnreachable } from '../../service-access';
import { EVENT_TYPES, type EventType } from '../events';
import { AddressPolicy } from './delivery/address-policy';
import { Sender, deliveryHeaders } from './delivery/sender';

/** Allows every address, because a developer's receiver may run on this machine or in a private network. */
const EVERYWHERE = new AddressPolicy(['0.0.0.0/0', '::/0']);
/** Retries that follow each other within this time belong to one outage, for which one warning is printed. */
const OUTAGE_MS = 60_000;

export interface ListenOptions {
  types?: EventType[];
  forwardTo?: string;
  url?: string;
  json?: boolean;
}

const SUMMARY =
  'print new events until Ctrl-C, with the key in PETSTORE_KEY, and forward them as webhooks do';

const TYPES = 'only events of these types, several with commas';

export const LISTEN: SubcommandDeclaration = {
  description: `${SUMMARY}

Each event of the feed is signed with a secret that is derived from the key, so the secret stays the same. No webhook is \
created, and an event that the receiver does not accept is not sent again.`,
  examples: [
    'webhooks listen --types order.placed',
    'webhooks listen --forward-to http://127.0.0.1:8080/hook',
  ],
  declare: (command) =>
    command
      .summary(SUMMARY)
      .addOption(commaSeparatedOption(command, '--types <types>', TYPES, EVENT_TYPES))
      .option('--forward-to <url>', 'URL to which each event is sent, signed', receiverUrl)
      .option('--json', 'one JSON object per event')
      .option(...URL_OPTION),
  takesJson: false,
  withoutStore: true,
};

function receiverUrl(text: string): string {
  const problem = EVERYWHERE.problemWith(text);
  if (problem !== undefined) {
    throw new UsageError(`"${text}" ${problem}.`);
  }
  return text;
}

export async function listen(
  options: ListenOptions,
  service: RunningService,
  signal: AbortSignal,
): Promise<void> {
  const { forwardTo, json } = options;
  const apiKey = keyInEnvironment(process.env);
  // Derive the secret from the API key. The secret is then the same at each start, and does not reveal the key.
  const secret = `whsec_${createHmac('sha256', apiKey).update('petstore webhooks listen').digest('base64')}`;
  const signer = new Webhook(secret);
  const sender = new Sender(EVERYWHERE);
  signal.addEventListener('abort', () => sender.close());
  const baseUrl = options.url ?? (await service.address());
  const pages = follow({ ...options, apiKey, baseUrl }, signal);
  // Read the first page before the secret is printed, so that a wrong key or an unreachable service is reported first.
  await pages.next();
  process.stderr.write(`Listening until Ctrl-C. The secret that signs the events is ${secret}\n`);
  for await (const page of pages) {
    for (const event of page) {
      const outcome = forwardTo === undefined ? undefined : await forward(event, forwardTo, signer, sender);
      signal.throwIfAborted();
      print(json ? printableJson({ event, ...outcome }) : lineOf(event, outcome));
    }
  }
}

/** Yields the pages of the event feed from now on, and continues after errors such as a restart of the service. */
async function* follow(
  { types, apiKey, baseUrl }: ListenOptions & { apiKey: string; baseUrl: string },
  signal: AbortSignal,
): AsyncGenerator<StoreEvent[], void, undefined> {
  let retriedAt = -Infinity;
  const onRetry = ({ status }: Retry): void => {
    if (performance.now() - retriedAt > OUTAGE_MS) {
      warn(`the service ${status === 0 ? 'does not answer' : `answers ${status}`}; trying again.`);
    }
    retriedAt = performance.now();
  };
  const sdk = createPetStoreClient({ baseUrl, apiKey, maxAttempts: 1, onRetry });
  try {
    const query = { type: types, cursor: 'now', wait: 0 };
    const { data, next } = await sdk.listEvents({ query, signal });
    yield data;
    let cursor = next;
    for (;;) {
      try {
        for await (const page of sdk.followEvents({ query: { type: types, cursor }, signal })) {
          yield page.data;
        }
      } catch (error) {
        if (!(error instanceof PetStoreError && error.next !== undefined)) {
          throw error;
        }
        warn('the service has lost events. Events of the last minute before may be printed again.');
        cursor = error.next;
      }
    }
  } catch (error) {
    if (!(error instanceof PetStoreError)) {
      throw error;
    }
    throw error.code === 'no_answer'
      ? serviceUnreachable(baseUrl, error.cause)
      : new OperatorError(error.message, error.code);
  }
}

function warn(message: string): void {
  process.stderr.write(formatError(message));
}

async function forward(event: StoreEvent, url: string, signer: Webhook, sender: Sender) {
  const now = new Date();
  const body = JSON.stringify(event);
  const headers = deliveryHeaders(event.id, now, signer.sign(event.id, now, body));
  const begin = performance.now();
  const { status, error } = await sender.send({ url, headers, body });
  return { status, error, milliseconds: Math.round(performance.now() - begin) };
}

/** Formats an event as a line, for example `2026-11-21T09:30:00.123456Z order.placed evt_… → 204 (12 ms)`. */
function lineOf(
  { timestamp, type, id, data }: StoreEvent,
  outcome?: Awaited<ReturnType<typeof forward>>,
): string {
  if (outcome === undefined) {
    return `${timestamp} ${type} ${id} ${printableJson(data)}`;
  }
  const { status, error, milliseconds } = outcome;
  return printable(`${timestamp} ${type} ${id} → ${status ?? error} (${milliseconds} ms)`);
}
