'use strict';

// For dependency-cruiser, which reads it as it would a webpack configuration: `#libs/*` are the sources here, and not the
// build to which package.json sends Node.
const { join } = require('node:path');

module.exports = {
  resolve: {
    alias: { '#libs/*': join(process.cwd(), 'libs/*/src/index.ts') },
    extensionAlias: { '.js': ['.ts', '.js'] },
  },
};
