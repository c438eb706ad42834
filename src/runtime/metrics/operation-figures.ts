/** A sample of a histogram; the suffix of its name says which (`_bucket`, `_sum`, `_count`). */
interface DurationSample {
  metricName: string;
  labels: Record<string, string | number>;
  value: number;
}

const LATENCY_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];

/** Counts of one operation and method, in plain numbers: prom-client looks up its labels at each count. */
class OperationFigures {
  private readonly byStatus = new Map<number, number>();
  /** Responses by the lowest bound that they did not exceed; the last element counts those that exceeded all. */
  private readonly byLatency = new Array<number>(LATENCY_SECONDS.length + 1).fill(0);
  private seconds = 0;
  private readonly labels: { operation: string; method: string };

  constructor(operation: string, method: string) {
    this.labels = { operation, method };
  }

  add(status: number, seconds: number): void {
    this.byStatus.set(status, (this.byStatus.get(status) ?? 0) + 1);
    let bound = 0;
    while (bound < LATENCY_SECONDS.length && seconds > LATENCY_SECONDS[bound]!) {
      bound += 1;
    }
    this.byLatency[bound]! += 1;
    this.seconds += seconds;
  }

  requests(): { labels: Record<string, string | number>; value: number }[] {
    return [...this.byStatus].map(([status, value]) => ({ labels: { ...this.labels, status }, value }));
  }

  /** The samples of a histogram of this name; buckets are cumulative. */
  durations(name: string): DurationSample[] {
    const { labels } = this;
    let count = 0;
    const buckets = this.byLatency.map((answers, index) => {
      count += answers;
      const le = LATENCY_SECONDS[index] ?? '+Inf';
      return { metricName: `${name}_bucket`, labels: { le, ...labels }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels, value: this.seconds },
      { metricName: `${name}_count`, labels, value: count },
    ];
  }
}

/** The counts of all operations and methods that were requested so far. */
export class FiguresByOperation {
  private readonly byOperation = new Map<string, Map<string, OperationFigures>>();

  of(operation: string, method: string): OperationFigures {
    return this.byOperation.get(operation)?.get(method) ?? this.begin(operation, method);
  }

  all(): OperationFigures[] {
    return [...this.byOperation.values()].flatMap((byMethod) => [...byMethod.values()]);
  }

  private begin(operation: string, method: string): OperationFigures {
    const byMethod = this.byOperation.get(operation) ?? new Map<string, OperationFigures>();
    const figures = new OperationFigures(operation, method);
    this.byOperation.set(operation, byMethod.set(method, figures));
    return figures;
  }
}
