'use strict';
// A process of its own which holds a server of the library beside it: `node holder.js <options as JSON>`. It prints
// one line of JSON when it has started or failed, another when it has lost the server, and stops and ends when it reads a line.
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
