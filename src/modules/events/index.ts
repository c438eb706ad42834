export { EVENT_TYPES, type EventType, type StoredEvent } from './event';
export { EventLog, type Occurrence, type Participant } from './event-log';
export { EventReader, EventsLost } from './event-reader';
export { EVENT_EXAMPLE, EVENT_SCHEMAS, eventSchema } from './event-schemas';
export { EventTail } from './event-tail';
export { type EventDto, toEventDto } from './events.dto';
export { EventLogModule, EventsModule } from './events.module';
