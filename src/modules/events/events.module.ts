import { type DynamicModule, Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { Participants, RetentionModule, olderThan } from '#libs/database';
import { EventBlock } from './event-block.entity';
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
      imports: [TypeOrmModule.forFeature([EventBlock])],
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

/** The feed that callers follow. */
@Module({
  imports: [
    // Today counts as a day.
    RetentionModule.keep({ table: 'event_blocks', expired: olderThan(DAYS_KEPT + 1), batch: 500 }),
  ],
  controllers: [EventsController],
  providers: [EventTail, EventsService],
  exports: [EventTail],
})
export class EventsModule {}
