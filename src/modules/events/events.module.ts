import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { EventBell } from './event-bell';
import { EventLog } from './event-log';
import { EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

/** What happens in the store: for modules in which it happens, and for who reads it without a server. */
@Module({ providers: [EventBell, EventLog, EventReader], exports: [EventLog, EventReader] })
export class EventLogModule {}

/** Today counts, so an event is there for 30 days at least. */
const DAYS = 31;

/** The feed that callers follow. */
@Module({
  imports: [
    EventLogModule,
    RetentionModule.keep({ table: 'event_blocks', dayColumn: 'day', days: DAYS, batch: 500 }),
  ],
  controllers: [EventsController],
  providers: [EventTail, EventsService],
  exports: [EventLogModule, EventTail],
})
export class EventsModule {}
