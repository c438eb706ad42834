import { Module } from '@nestjs/common';
import { EventLog } from './event-log';

/** For modules in which something happens. */
@Module({ providers: [EventLog], exports: [EventLog] })
export class EventLogModule {}
