import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** As OTLP sends it: the value by the name of its type, such as `stringValue`. */
interface Attribute {
  key: string;
  value: Record<string, unknown>;
}

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Attribute[];
}

/** A span with its attributes by name. */
export type CollectedSpan = Omit<SentSpan, 'attributes'> & { attributes: Record<string, unknown> };

interface ExportRequest {
  resourceSpans: { resource: { attributes: Attribute[] }; scopeSpans: { spans: SentSpan[] }[] }[];
}

/** Takes traces as an OpenTelemetry collector does: OTLP over HTTP, in JSON. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that was sent, as it came. */
  received = '';
  resource: Record<string, unknown> = {};
  private readonly server: Server = createServer((request, answer) => {
    let body = '';
    request.setEncoding('utf8').on('data', (text: string) => (body += text));
    request.on('end', () => {
      if (request.url === '/v1/traces') this.take(body);
      answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
    });
  });

  static async start(): Promise<Collector> {
    const collector = new Collector();
    collector.server.listen(0, '127.0.0.1');
    await once(collector.server, 'listening');
    return collector;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  close(): void {
    this.server.close();
    this.server.closeAllConnections();
  }

  private take(body: string): void {
    this.received += body;
    for (const { resource, scopeSpans } of (JSON.parse(body) as ExportRequest).resourceSpans) {
      this.resource = byName(resource.attributes);
      const sent = scopeSpans.flatMap(({ spans }) => spans);
      this.spans.push(...sent.map((span) => ({ ...span, attributes: byName(span.attributes) })));
    }
  }
}

function byName(attributes: Attribute[]): Record<string, unknown> {
  return Object.fromEntries(attributes.map(({ key, value }) => [key, Object.values(value)[0]]));
}
