import { Module } from '@nestjs/common';
import { TypeOrmModule } from '@nestjs/typeorm';
import { DAY_MS } from '#libs/clock';
import type { Feature } from '../../feature';
import { EventRow } from './event.entity';
import { EVENT_RETENTION_DAYS, EventReader } from './event-reader';
import { EventTail } from './event-tail';
import { EventsController } from './events.controller';
import { EVENT_SCHEMAS } from './events.dto';

export { EVENT_TYPES, type EventType, RESOURCES } from './event.entity';
export { EVENT_JSON, EventReader, eventJson } from './event-reader';
export { EventTail } from './event-tail';
export { EVENT_EXAMPLE, anyEvent, eventSchema } from './events.dto';
export { type NewEvent, writeModelWithEvents } from './write-model';

@Module({
  imports: [TypeOrmModule.forFeature([EventRow])],
  controllers: [EventsController],
  providers: [EventReader, EventTail],
  exports: [EventReader],
})
class EventsModule {}

/**
 * Events are promised for EVENT_RETENTION_DAYS (30 days), but kept for two more days, because deliveries to webhooks need
 * their events. A delivery can be retried until the delivery is deleted, up to 31 days after its creation. The second
 * day allows for deliveries that are created or deleted late.
 */
const KEPT_MS = (EVENT_RETENTION_DAYS + 2) * DAY_MS;
const MAX_EXAMINED = 5_000;

/**
 * Returns the SQL condition for expired events. The subquery finds the 5,000 events with the lowest positions, which are the
 * oldest ones, by the index on the position. Only the times of these events are compared, so no index on the time is needed.
 */
const isExpired = (now: number): string =>
  `position = ANY(ARRAY(SELECT position FROM events ORDER BY position LIMIT ${MAX_EXAMINED}))
   AND time < '${new Date(now - KEPT_MS).toISOString()}'`;

export const EVENTS: Feature = {
  module: EventsModule,
  expiredRows: [{ table: 'events', condition: isExpired, maxRows: MAX_EXAMINED }],
  schemas: EVENT_SCHEMAS,
  cliCommands: async () => [(await import('./events.command.js')).EventsCommand],
};
