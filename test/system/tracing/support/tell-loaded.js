'use strict';
// Loaded before the service (`node --require`): at its end, names the packages of OpenTelemetry that it has loaded.
process.on('exit', () => {
  const names = Object.keys(require.cache).map(
    (file) => /node_modules\/(@opentelemetry\/[^/]+)/.exec(file)?.[1],
  );
  process.stderr.write(`${[...new Set(names)].filter(Boolean).sort().join(' ')}\n`);
});
