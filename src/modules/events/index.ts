export { EventLog, type Occurrence } from './event-log';
export { EVENT_TYPES, type EventType } from './event-types';
export { EventLogModule } from './events.module';
