import { Injectable, type OnModuleInit } from '@nestjs/common';
import { EventLog, EventTail } from '../../modules/events';
import { MetricsService } from './metrics.service';

/** Metrics of events. */
@Injectable()
export class EventFigures implements OnModuleInit {
  constructor(
    private readonly metrics: MetricsService,
    private readonly log: EventLog,
    private readonly tail: EventTail,
  ) {}

  onModuleInit(): void {
    this.metrics.counter(
      'petstore_events_written_total',
      'Events that this instance has committed.',
      () => this.log.written,
      'type',
    );
    this.metrics.gauge(
      'petstore_events_waiting_requests',
      'Requests that wait for events.',
      () => this.tail.waiting,
    );
  }
}
