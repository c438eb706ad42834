'use strict';

// Required before the service: on SIGUSR2, all garbage is collected, so that what is left is what the service holds.
const { setFlagsFromString } = require('node:v8');
const { runInNewContext } = require('node:vm');

setFlagsFromString('--expose-gc');
const collect = runInNewContext('gc');
process.on('SIGUSR2', () => collect());
