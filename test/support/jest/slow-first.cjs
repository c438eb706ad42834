'use strict';
const { default: Sequencer } = require('@jest/test-sequencer');

const TIERS = ['system', 'http', 'unit'];

/** Begins with the tier that has the longest files, because a long file that begins last keeps one worker busy after all others. */
module.exports = class SlowFirst extends Sequencer {
  sort(tests) {
    const tierOf = ({ context }) => TIERS.indexOf(context.config.displayName?.name);
    return super.sort(tests).toSorted((one, other) => tierOf(one) - tierOf(other));
  }
};
