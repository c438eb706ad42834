import { once } from 'node:events';
import { type Server, createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A span as OTLP sends it, with its attributes by name. */
export interface CollectedSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  kind: number;
  attributes: Record<string, unknown>;
  status: { code?: number };
}

interface Attribute {
  key: string;
  /** The value by the name of its type, such as `stringValue`. */
  value: Record<string, unknown>;
}

type SentSpan = Omit<CollectedSpan, 'attributes'> & { attributes: Attribute[] };

interface ExportRequest {
  resourceSpans: {
    resource: { attributes: Attribute[] };
    scopeSpans: { spans: SentSpan[] }[];
  }[];
}

/** Takes traces as an OpenTelemetry collector does: OTLP over HTTP, in JSON. */
export class Collector {
  readonly spans: CollectedSpan[] = [];
  /** Everything that was sent, as it came. */
  received = '';
  resource: Record<string, unknown> = {};

  private constructor(private readonly server: Server) {
    server.on('request', (request, answer) => {
      let body = '';
      request.setEncoding('utf8').on('data', (text: string) => (body += text));
      request.on('end', () => {
        if (request.url === '/v1/traces') {
          this.take(body);
        }
        answer.writeHead(200, { 'Content-Type': 'application/json' }).end('{}');
      });
    });
  }

  static async start(): Promise<Collector> {
    const server = createServer();
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return new Collector(server);
  }

  get url(): string {
    return `http://127.0.0.1:${(this.server.address() as AddressInfo).port}`;
  }

  childrenOf({ spanId }: CollectedSpan): CollectedSpan[] {
    return this.spans.filter(({ parentSpanId }) => parentSpanId === spanId);
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
  return Object.fromEntries(attributes.map(({ key, value }) => [key, plain(value)]));
}

function plain(typed: Attribute['value']): unknown {
  const [value] = Object.values(typed);
  const { values } = (value ?? {}) as { values?: Attribute['value'][] };
  return values?.map(plain) ?? value;
}
