import { type Server, createServer } from 'node:http';
import { Registry } from 'prom-client';

export interface MetricsAddress {
  host: string;
  port: number;
}

/** Serves metrics at `/metrics`, in Prometheus's text format. Rejects if the address is unavailable. */
export async function serveMetrics(
  { host, port }: MetricsAddress,
  text: () => Promise<string>,
): Promise<Server> {
  const server = createServer((request, response) => {
    if (request.url !== '/metrics') {
      response.writeHead(404).end();
      return;
    }
    text().then(
      (figures) => response.writeHead(200, { 'Content-Type': Registry.PROMETHEUS_CONTENT_TYPE }).end(figures),
      () => response.writeHead(500).end(),
    );
  });
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject);
    server.listen(port, host, resolve);
  });
  return server;
}
