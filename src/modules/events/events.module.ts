import { Module } from '@nestjs/common';
import { RetentionModule } from '#libs/retention';
import { EventLog } from './event-log';
import { EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';
import { EventsService } from './events.service';

/** What happens in the store: for modules in which it happens, and for who reads it without a server. */
@Module({ providers: [EventLog, EventReader], exports: [EventLog, EventReader] })
export class EventLogModule {}

/** Today counts, so an event is there for 30 days at least. */
const DAYS = 31;

/** The feed that callers follow. */
@Module({
  imports: [EventLogModule, RetentionModule.keep({ table: 'events', dayColumn: 'day', days: DAYS })],
  controllers: [EventsController],
  providers: [EventTail, EventsService],
  exports: [EventLogModule, EventTail],
})
export class EventsModule {}
