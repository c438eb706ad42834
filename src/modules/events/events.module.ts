import { Module } from '@nestjs/common';
import { RetentionModule, olderThan } from '#libs/database';
import { EventLog } from './event-log';
import { DAYS_KEPT, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

/** Writing and reading events: for the modules that report them, and for the command line. */
@Module({ providers: [EventLog, EventReader], exports: [EventLog, EventReader] })
export class EventLogModule {}

/** The feed that callers follow. */
@Module({
  imports: [
    EventLogModule,
    // Today counts as a day.
    RetentionModule.keep({ table: 'event_blocks', expired: olderThan(DAYS_KEPT + 1), batch: 500 }),
  ],
  controllers: [EventsController],
  providers: [EventTail, EventsService],
  exports: [EventLogModule, EventTail],
})
export class EventsModule {}
