import { createServer } from 'node:http';

// The ceiling: what Node's own server does when there is nothing to do.

const BODY = JSON.stringify({ status: 'ok' });
const HEADERS = {
  'Content-Type': 'application/json; charset=utf-8',
  'Content-Length': Buffer.byteLength(BODY),
};

createServer((_request, response) => {
  response.writeHead(200, HEADERS).end(BODY);
}).listen(Number(process.env.PORT), '127.0.0.1');
