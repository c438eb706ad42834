import { connect } from 'node:net';
import { useService } from '../../support/use-service';

const service = useService();

test('A CONNECT whose sender disconnects does no harm', async () => {
  for (let attempt = 0; attempt < 20; attempt += 1) {
    await new Promise<void>((resolve) => {
      const socket = connect(service.port, '127.0.0.1', () => {
        socket.write('CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n', () => {
          socket.resetAndDestroy();
          resolve();
        });
      });
      socket.on('error', () => undefined);
    });
  }
  expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
});

test('A client that has half-closed the connection still gets its response', async () => {
  const answer = await new Promise<string>((resolve) => {
    let text = '';
    const socket = connect(service.port, '127.0.0.1', () => {
      socket.end('GET /health/live HTTP/1.1\r\nHost: a\r\n\r\n');
    });
    socket.on('data', (chunk) => (text += chunk.toString()));
    socket.on('close', () => resolve(text));
  });
  expect(answer).toMatch(/^HTTP\/1\.1 200 OK/);
});
