'use strict';
// Loaded before a command (`node --require`): at its end, tells on file descriptor 2 whether it loaded what costs most.
process.on('exit', () => {
  const loaded = Object.keys(require.cache).some((file) => /node_modules\/(typeorm|fastify|pg)\//.test(file));
  require('node:fs').writeSync(2, JSON.stringify({ loaded }));
});
