import { EventEmitter } from 'node:events';
import type { ServerResponse } from 'node:http';
import { UnsentResponses } from '../../../../libs/http/src/connections';

const MIB = 'x'.repeat(1024 * 1024);

let closed: string[];
let unsent: UnsentResponses;

beforeEach(() => {
  closed = [];
  unsent = new UnsentResponses();
});

/** A response that is pending until its connection is closed, or until it is sent. */
function respond(client: number, name: string, body = MIB): { sent: () => void } {
  const response = new EventEmitter();
  const destroy = () => {
    closed.push(name);
    response.emit('close');
  };
  Object.assign(response, { req: { socket: { destroy } } });
  unsent.hold(client, response as ServerResponse, body);
  return { sent: () => void response.emit('close') };
}

test('A client may leave 16 MiB unread; above, its oldest responses are given up', () => {
  for (let count = 1; count <= 16; count += 1) {
    respond(1, `${count}`);
    respond(2, `another's ${count}`);
  }
  expect(closed).toEqual([]);
  respond(1, '17');
  respond(1, '18');
  expect(closed).toEqual(['1', '2']);
});

test('What has been sent does not count', () => {
  for (let count = 1; count <= 40; count += 1) {
    respond(1, `${count}`).sent();
  }
  expect(closed).toEqual([]);
});
