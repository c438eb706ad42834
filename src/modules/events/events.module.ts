import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DAY_MS } from '#libs/clock';
import { Participants, RetentionModule } from '#libs/database';
import { EventRow } from './event.entity';
import { EventLog, PARTICIPANTS, type Participant } from './event-log';
import { DAYS_KEPT, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

/** Writing and reading events. */
@Module({})
export class EventLogModule {
  /** @param participants all entities whose rows commands change, parents before children */
  static of(participants: readonly Participant[]): DynamicModule {
    return {
      module: EventLogModule,
      global: true,
      imports: [TypeOrmModule.forFeature([EventRow])],
      providers: [
        EventLog,
        EventReader,
        { provide: PARTICIPANTS, useValue: participants },
        { provide: Participants, useExisting: EventLog },
      ],
      exports: [EventLog, EventReader, Participants],
    };
  }
}

/** Longer than promised, so that no event expires before the last of its deliveries. */
const KEPT_MS = (DAYS_KEPT + 2) * DAY_MS;
/** Events that are looked at, and deleted, at a time. */
const SLICE = 5_000;

/** The oldest events, if they are too old: needs no index on the time. */
const expired = (now: number): string =>
  `position = ANY(ARRAY(SELECT position FROM events ORDER BY position LIMIT ${SLICE}))
   AND time < '${new Date(now - KEPT_MS).toISOString()}'`;

/** The feed that callers follow. */
@Module({
  imports: [RetentionModule.keep({ table: 'events', expired, batch: SLICE })],
  controllers: [EventsController],
  providers: [EventTail, EventsService],
  exports: [EventTail],
})
export class EventsModule {}
