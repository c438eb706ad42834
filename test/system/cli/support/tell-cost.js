'use strict';
// Loaded before a command (`node --require`): at its end, tells on file descriptor 2 what it cost.
process.on('exit', () => {
  const { user, system } = process.cpuUsage();
  const loaded = Object.keys(require.cache).some((file) => /node_modules\/(typeorm|fastify|pg)\//.test(file));
  require('node:fs').writeSync(2, JSON.stringify({ cpuMilliseconds: (user + system) / 1000, loaded }));
});
