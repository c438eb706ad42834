import { Inject, Injectable } from '@nestjs/common';
import { InjectRepository } from '@nestjs/typeorm';
import { Repository } from 'typeorm';
import { Clock } from '#libs/clock';
import { Database, type Statement } from '#libs/database';
import { OUTGOING_SOCKETS } from '../../../settings/settings';
import { AuditTrail } from '../../audit';
import { EVENT_TYPES } from '../../events';
import { MAX_PENDING, type StoredSecret, Webhook, enabledColumns } from '../webhook.entity';
import {
  DISPATCH,
  END_EXPIRED,
  FULL,
  GIVE_UP,
  LEASE,
  LEASE_MS,
  LOCK_DUE_WEBHOOKS,
  MAX_CONCURRENT_TO_WEBHOOK,
  NEW_EVENTS,
  OLDEST_DUE,
  RECORD,
  RENEW,
  type Recorded,
  WITHOUT_BITMAPS,
  type WebhookIds,
} from './delivery-statements';
import { type Attempt, DISABLED_AFTER_MS, RETRY_DELAYS_MS, askedPauseMs } from './retry-schedule';
import { SOCKETS_PER_DELIVERY } from './sender';

const BACKLOG_FULL = `More than ${MAX_PENDING} deliveries were pending.`;
const GONE = 'The receiver responded 410 Gone.';
const DEAD = 'All deliveries failed for five days.';
/**
 * Maximum number of concurrent deliveries of one process to quick webhooks. The same maximum applies to slow webhooks,
 * which are all others. `QUICK_MS` in delivery-worker.ts says which webhooks are quick.
 */
const MAX_CONCURRENT_OF_KIND = 500;

/** `isQuick` is true if the attempt took at most QUICK_MS (delivery-worker.ts). Its webhook is then quick until the next attempt. */
export type FinishedAttempt = Attempt & { isQuick: boolean };

export interface LeasedDelivery {
  id: number;
  /** When the lease ends. Each lease of a delivery ends at a different time, so this time also identifies the lease. */
  leasedUntil: Date;
  webhookId: number;
  clientId: number;
  /** True if this delivery counts towards MAX_CONCURRENT_OF_KIND of the quick webhooks, false if of the slow webhooks. */
  quick: boolean;
  url: string;
  secrets: StoredSecret[];
  eventId: string;
  /** The event as JSON; null if the event has expired. */
  body: string | null;
  /** When the attempt began, in unix milliseconds. */
  startedAt?: number;
  attempt?: FinishedAttempt;
}

interface Turn {
  /** The deliveries whose outcomes are recorded. */
  finished: readonly LeasedDelivery[];
  /**
   * The deliveries that this process is still sending, which count towards the process's maximum number of concurrent
   * deliveries.
   */
  sending: readonly LeasedDelivery[];
  /** If false, no deliveries are leased. */
  mayLease: boolean;
}

interface Leased {
  leased: readonly LeasedDelivery[];
  /**
   * True if webhooks may have more due deliveries, so that the caller should call again at once. If many webhooks have due
   * deliveries, one call leases only a few deliveries of each webhook.
   */
  hasMore: boolean;
}

/**
 * Queue of deliveries in the database. An instance leases a delivery before sending the delivery. Until the lease is
 * ended, no other instance sends this delivery.
 */
@Injectable()
export class DeliveryQueue {
  /**
   * Maximum number of concurrent deliveries of this process to quick webhooks. Deliveries to slow webhooks are counted
   * separately and have the same maximum, so that slow receivers cannot delay the deliveries to quick receivers.
   */
  private readonly maxOfKind: number;
  /** When this process last ended expired leases, in unix milliseconds. */
  private leasesEndedAt = 0;

  constructor(
    @InjectRepository(Webhook) private readonly webhooks: Repository<Webhook>,
    private readonly database: Database,
    private readonly trail: AuditTrail,
    private readonly clock: Clock,
    @Inject(OUTGOING_SOCKETS) sockets: number,
  ) {
    const forHalf = Math.floor(sockets / (2 * SOCKETS_PER_DELIVERY));
    this.maxOfKind = Math.min(MAX_CONCURRENT_OF_KIND, Math.max(1, forHalf));
  }

  /**
   * Creates a delivery of each new event for each webhook that subscribes to the event's type.
   * @returns `hasNew` is true if there were new events, `isAnyEnabled` if any webhook is enabled, and `hasMore` if new
   * events are left for the next call
   */
  async dispatch(): Promise<{ hasNew: boolean; isAnyEnabled: boolean; hasMore: boolean }> {
    const [feed] = await this.database.query<{ end: number; hasNew: boolean; isAnyEnabled: boolean }>({
      text: NEW_EVENTS,
    });
    const { end, hasNew, isAnyEnabled } = feed!;
    const dispatch = { text: DISPATCH, values: [EVENT_TYPES, end, this.timeIn(0)] };
    const [dispatched] = hasNew ? await this.database.query<{ hasMore: boolean }>(dispatch) : [];
    return { hasNew, isAnyEnabled, hasMore: dispatched?.hasMore ?? false };
  }

  async disableFull(): Promise<void> {
    const reason = `${BACKLOG_FULL} They were given up; the feed has their events.`;
    await this.database.inTwoRoundTrips([{ text: FULL }], ([full]) =>
      (full as WebhookIds[]).flatMap((webhook) => [
        ...this.disablingOf(webhook, reason),
        { text: GIVE_UP, values: [webhook.id, BACKLOG_FULL] },
      ]),
    );
  }

  /**
   * Records the outcomes of attempts, and disables webhooks whose receivers have answered 410 or have failed for five
   * days. Then leases due deliveries for this process.
   */
  async recordAndLease({ finished, sending, mayLease }: Turn): Promise<Leased> {
    const now = this.timeIn(0);
    const kinds = (mayLease ? [true, false] : [])
      .map((quick) => this.capacityFor(quick, sending))
      .filter(({ capacity }) => capacity > 0);
    if (finished.length === 0 && kinds.length === 0) {
      return { leased: [], hasMore: false };
    }
    const finds = kinds.map(({ quick, clients, capacity }) => ({
      text: LOCK_DUE_WEBHOOKS,
      values: [now, clients, quick, capacity, this.maxOfKind],
    }));
    const leasedUntil = this.timeIn(LEASE_MS);
    let share = MAX_CONCURRENT_TO_WEBHOOK;
    const first = [WITHOUT_BITMAPS, this.recordingOf(finished), ...finds];
    const [rows] = await this.database.inTwoRoundTrips(first, ([, recordedRows, ...foundRows]) => {
      const ended = (recordedRows as Recorded[]).filter(({ gone, dead }) => gone || dead);
      const found = foundRows as { id: number }[][];
      share = shareOf(kinds, found);
      const lease = { text: LEASE, values: [now, idsWithout(ended, found.flat()), leasedUntil, share] };
      const disabled = ended.filter(({ enabled }) => enabled);
      return [lease, ...disabled.flatMap((one) => this.disablingOf(one, one.gone ? GONE : DEAD))];
    });
    const leased = rows as LeasedDelivery[];
    return { leased, hasMore: leased.length > 0 && share < MAX_CONCURRENT_TO_WEBHOOK };
  }

  /** Renews the lease of each delivery in `sending`, if less than half of the lease's duration (LEASE_MS) is left. */
  async renewLeases(sending: readonly LeasedDelivery[]): Promise<void> {
    const half = this.clock.now() + LEASE_MS / 2;
    const ending = sending.filter(({ leasedUntil }) => leasedUntil.getTime() < half);
    if (ending.length === 0) {
      return;
    }
    const until = new Date(this.clock.now() + LEASE_MS);
    const values = [ending.map(({ id }) => id), ending.map(({ leasedUntil }) => leasedUntil), until];
    const renewed = await this.database.query<{ id: number }>({ text: RENEW, values });
    const ids = new Set(renewed.map(({ id }) => id));
    ending.filter(({ id }) => ids.has(id)).forEach((delivery) => (delivery.leasedUntil = until));
  }

  /**
   * Ends the leases that had already expired at the previous successful call. The calls fail while the database is
   * unavailable. So after an outage, the first call ends no lease that expired during the outage, and each process can
   * renew its leases until the next call, a second later. Only then may other processes send the deliveries whose
   * leases were not renewed.
   */
  async endExpiredLeases(): Promise<void> {
    const now = this.clock.now();
    const end = { text: END_EXPIRED, values: [new Date(this.leasesEndedAt)] };
    await this.database.inTwoRoundTrips([WITHOUT_BITMAPS], () => [end]);
    this.leasesEndedAt = now;
  }

  async oldestDueSeconds(): Promise<number> {
    const statement = { text: OLDEST_DUE, values: [this.timeIn(0)] };
    const [row] = await this.database.query<{ seconds: number }>(statement);
    return row!.seconds;
  }

  private disablingOf({ id: webhookId, clientId }: WebhookIds, reason: string): readonly Statement[] {
    const columns = enabledColumns(false, reason);
    const update = this.webhooks.createQueryBuilder().update().set(columns).where({ id: webhookId });
    const [text, values] = update.getQueryAndParameters();
    const entry = { action: 'webhook.disabled', clientId, details: { webhookId, reason } } as const;
    return [{ text, values }, this.trail.recordOf(entry)];
  }

  /**
   * Returns how many more deliveries this process may start now (`capacity`): to quick webhooks or, if `quick` is
   * false, to slow webhooks. `clients` contains the client of each delivery that is being sent to these webhooks.
   */
  private capacityFor(quick: boolean, sending: readonly LeasedDelivery[]) {
    const ofKind = sending.filter((delivery) => delivery.quick === quick);
    // Limit the sum of quick and slow deliveries, too. A quick delivery whose attempt takes long counts as slow from
    // then on, so there may be more slow deliveries than their maximum.
    const capacity = Math.min(this.maxOfKind - ofKind.length, 2 * this.maxOfKind - sending.length);
    return { quick, capacity, clients: ofKind.map(({ clientId }) => clientId) };
  }

  private recordingOf(finished: readonly LeasedDelivery[]): Statement {
    const outcomes = finished.map(({ id, leasedUntil: lease, webhookId: webhook, url, attempt }) => {
      const { status: answer, error, isQuick: quick } = attempt!;
      return {
        id,
        lease,
        webhook,
        url,
        answer,
        error,
        pause: askedPauseMs(attempt!, this.clock.now()),
        quick,
      };
    });
    const times = [this.timeIn(0), RETRY_DELAYS_MS, this.timeIn(-DISABLED_AFTER_MS)];
    return { text: RECORD, values: [JSON.stringify(outcomes), ...times] };
  }

  private timeIn(milliseconds: number): string {
    return new Date(this.clock.now() + milliseconds).toISOString();
  }
}

/**
 * Returns how many deliveries of each webhook in `found` may be leased: at most MAX_CONCURRENT_TO_WEBHOOK, and fewer if
 * many webhooks share the capacity.
 * @param kinds the kinds of webhooks, quick and slow, for which this process has capacity
 * @param found for each of these kinds, the webhooks with due deliveries
 */
function shareOf(kinds: readonly { capacity: number }[], found: readonly (readonly object[])[]): number {
  const shares = kinds.map(({ capacity }, index) => Math.floor(capacity / Math.max(1, found[index]!.length)));
  return Math.min(MAX_CONCURRENT_TO_WEBHOOK, ...shares);
}

function idsWithout(ended: readonly { id: number }[], found: readonly { id: number }[]): number[] {
  const endedIds = new Set(ended.map(({ id }) => id));
  return found.flatMap(({ id }) => (endedIds.has(id) ? [] : [id]));
}
