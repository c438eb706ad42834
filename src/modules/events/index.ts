export { EVENT_TYPES, type EventType, type StoredEvent } from './event.entity';
export { EventReader, EventsLost, MAX_SEARCHED } from './event-reader';
export { EVENT_EXAMPLE, EVENT_SCHEMAS, eventSchema } from './event-schemas';
export { EventTail } from './event-tail';
export { type EventDto, toEventDto } from './events.dto';
export {
  EventLogModule,
  EventsModule,
  type NewEvent,
  type Participant,
  reportedWrites,
} from './events.module';
