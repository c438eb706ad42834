import { connectRedis, explainRedis } from '../../../src/modules/quotas/stores/redis-connection';

it.each([
  ['self-signed certificate', 'its certificate is not trusted (NODE_EXTRA_CA_CERTS'],
  ["Hostname/IP does not match certificate's altnames", 'its certificate is not trusted'],
  ['NOAUTH Authentication required.', 'it refuses the user or password of REDIS_URL'],
  ['NOPERM this user has no permissions to run the info command', 'the user of REDIS_URL lacks a permission'],
])('%s will not pass by itself, and says what to change', (message, reason) => {
  const client = connectRedis('redis://127.0.0.1:1');
  try {
    client.emit('error', new Error(message));
    const failure = explainRedis(client, new Error('The stream is not writable'));
    expect(failure).toEqual({ reason: expect.stringContaining(reason) as string, lasting: true });
    expect(failure.reason).toContain(message);
  } finally {
    client.disconnect();
  }
});
