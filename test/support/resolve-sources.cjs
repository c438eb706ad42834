'use strict';

// dependency-cruiser reads this file as a webpack configuration. `#libs/*` leads to the sources, because package.json leads
// Node to the build.
const { join } = require('node:path');

module.exports = {
  resolve: {
    alias: { '#libs/*': join(process.cwd(), 'libs/*/src/index.ts') },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
};
