import { createHmac } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { SubCommand } from 'nest-commander';
import { Webhook } from 'standardwebhooks';
import { DAY_MS } from '#libs/clock';
import { EVENT_TYPES, type EventDto, type EventType } from '../events';
import { retryAfterMs } from './delivery/retry-schedule';
import { formatError, printable, printableJson } from '../../runtime/messages';
import { URL_OPTION, callService, serviceUrl } from '../../cli/api.command';
import { ONLY_TYPES } from '../events/events.command';
import { type Commander, PetstoreCommand } from '../../cli/command/command';
import { untilInterrupted } from '../../cli/command/ending';
import { CommandFailure } from '../../cli/command/failure';
import { someOf } from '../../cli/command/option';
import { print } from '../../cli/command/output';

/** How long a request for events waits for one. */
const WAIT_SECONDS = 25;
/** The most that a receiver may take, as in the service. */
const ANSWER_MS = 15_000;
/** Before the service is asked again, where it does not say how long. */
const PAUSE_MS = 2_000;

interface ListenOptions {
  types?: EventType[];
  forwardTo?: string;
  url?: string;
  json?: boolean;
}

@SubCommand({
  name: 'listen',
  description: 'print new events until Ctrl-C, with the key in PETSTORE_KEY, and forward them as webhooks do',
})
export class ListenCommand extends PetstoreCommand {
  protected override readonly examples = [
    'webhooks listen --types order.placed',
    'webhooks listen --forward-to http://127.0.0.1:8080/hook',
  ];
  protected override explanation(): string {
    return `
Events come from the feed, and are signed here with a secret that follows from the key and stays the same. No webhook is
created, and what the receiver does not accept is not sent again.
`;
  }

  override accept(commander: Commander): void {
    commander
      .option('--types <types>', ONLY_TYPES, someOf(EVENT_TYPES))
      .option('--forward-to <url>', 'send each event there, signed', serviceUrl)
      .option('--json', 'one JSON object per event')
      .option(...URL_OPTION);
  }

  work(_inputs: string[], options: ListenOptions): Promise<void> {
    return untilInterrupted('no more events are forwarded', (signal) => listen(options, signal));
  }
}

async function listen(options: ListenOptions, signal: AbortSignal): Promise<void> {
  const { forwardTo, json } = options;
  const pages = follow(options, signal);
  // The first page is empty. Whoever reads it has a key.
  await pages.next();
  const secret = secretFor(process.env.PETSTORE_KEY!.trim());
  process.stderr.write(`Listening until Ctrl-C. The secret of these webhooks is ${secret}\n`);
  const signer = new Webhook(secret);
  for await (const page of pages) {
    for (const event of page) {
      const outcome = forwardTo === undefined ? undefined : await forward(event, forwardTo, signer, signal);
      print(json ? printableJson({ event, ...outcome }) : lineOf(event, outcome));
    }
  }
}

/** Pages of the feed from now on, through restarts and limits of the service. */
async function* follow(
  { types = [], url }: ListenOptions,
  signal: AbortSignal,
): AsyncGenerator<EventDto[], void, undefined> {
  let cursor: string | undefined;
  let isFailing = false;
  for (;;) {
    const query = new URLSearchParams(types.map((type): [string, string] => ['type', type]));
    query.set('cursor', cursor ?? 'now');
    query.set('wait', String(cursor === undefined ? 0 : WAIT_SECONDS));
    const request = { method: 'GET', path: `/events?${query.toString()}`, url, signal };
    const response = await callService(request).catch((error: unknown) => {
      signal.throwIfAborted();
      if (cursor === undefined) throw error;
    });
    const next = response && cursorIn(response);
    if (response && next !== undefined) {
      const isStill = next === cursor;
      cursor = next;
      isFailing = false;
      if (response.ok) {
        yield (await response.json()) as EventDto[];
      } else {
        warn('the service has lost events; those of the last minute before may follow again.');
      }
      // A service that is stopping does not wait for events.
      await sleep(isStill ? 1_000 : 0, signal);
      continue;
    }
    if (response && response.status !== 429 && response.status < 500) {
      const message = `the service answered ${response.status}.`;
      const problem = (await response.json().catch(() => ({}))) as { code?: string; message?: string };
      throw new CommandFailure(problem.message ?? message, { code: problem.code ?? 'refused' });
    }
    if (!isFailing) {
      warn(`the service ${response ? `answers ${response.status}` : 'does not answer'}; trying again.`);
      isFailing = true;
    }
    await sleep(pauseMs(response?.headers), signal);
  }
}

/** As long as the service asks for, a date by its own clock; at most a day, because timers end after some weeks. */
export function pauseMs(headers = new Headers()): number {
  const now = Date.parse(headers.get('Date') ?? '') || Date.now();
  const asked = retryAfterMs(headers.get('Retry-After') ?? '', now);
  return asked > 0 ? Math.min(asked, DAY_MS) : PAUSE_MS;
}

async function sleep(milliseconds: number, signal: AbortSignal): Promise<void> {
  await pause(milliseconds, undefined, { signal }).catch(() => signal.throwIfAborted());
}

function cursorIn({ headers }: Response): string | undefined {
  const [, target = ''] = /<([^<>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  return new URLSearchParams(target.split('?')[1]).get('cursor') ?? undefined;
}

function warn(message: string): void {
  process.stderr.write(formatError(message));
}

/** Who knows it cannot tell the key. */
function secretFor(key: string): string {
  return `whsec_${createHmac('sha256', key).update('petstore webhooks listen').digest('base64')}`;
}

interface Outcome {
  /** Null without a response. */
  status: number | null;
  error?: string;
  milliseconds: number;
}

/** Sends an event as the service sends deliveries. */
async function forward(event: EventDto, url: string, signer: Webhook, signal: AbortSignal): Promise<Outcome> {
  const now = new Date();
  const body = JSON.stringify(event);
  const headers = {
    'Content-Type': 'application/json',
    'webhook-id': event.id,
    'webhook-timestamp': String(Math.floor(now.getTime() / 1_000)),
    'webhook-signature': signer.sign(event.id, now, body),
  };
  const begin = performance.now();
  const request = { method: 'POST', headers, body, redirect: 'manual' } as const;
  const limit = AbortSignal.any([signal, AbortSignal.timeout(ANSWER_MS)]);
  const answer = await fetch(url, { ...request, signal: limit }).then(
    async (response) => {
      await response.body?.cancel();
      return { status: response.status };
    },
    (error: Error) => ({ status: null, error: reasonOf(error) }),
  );
  signal.throwIfAborted();
  return { ...answer, milliseconds: Math.round(performance.now() - begin) };
}

/** `fetch` says why in the cause; where it has tried several addresses, in the code. */
function reasonOf({ message, cause }: Error): string {
  const { message: detail, code } = (cause ?? {}) as Partial<NodeJS.ErrnoException>;
  return detail || code || message;
}

/** `order.placed evt_… → 204 (12 ms)` */
function lineOf({ type, id, data }: EventDto, outcome?: Outcome): string {
  if (outcome === undefined) {
    return `${type} ${id} ${printableJson(data)}`;
  }
  const { status, error = '', milliseconds } = outcome;
  return printable(`${type} ${id} → ${status ?? error} (${milliseconds} ms)`);
}
