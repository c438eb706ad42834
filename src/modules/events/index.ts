export { EventLog, type Occurrence } from './event-log';
export { EventReader } from './event-reader';
export { EVENT_EXAMPLE, EVENT_SCHEMAS } from './event-schemas';
export { EVENTS_CHANNEL } from './event-bell';
export { EventTail } from './event-tail';
export { EVENT_TYPES, type EventType } from './event-types';
export { type EventDto, toEventDto } from './events.dto';
export { EventLogModule, EventsModule } from './events.module';
