'use strict';

const { default: Sequencer } = require('@jest/test-sequencer');

const TIERS = ['unit', 'http', 'system'];

/** The quick tests first, so that a mistake is soon seen; within a tier as jest has it. */
module.exports = class extends Sequencer {
  sort(tests) {
    const tierOf = ({ context }) => TIERS.indexOf(context.config.displayName.name);
    return super.sort(tests).sort((one, other) => tierOf(one) - tierOf(other));
  }
};
