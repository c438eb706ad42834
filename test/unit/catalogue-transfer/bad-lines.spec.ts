import fc from 'fast-check';
import { BadLines } from '../../../src/modules/catalogue/bad-lines';

const MOST = 3;

it('Bad lines are reported in file order, whatever the order in which they were found, and all are counted', () => {
  const groups = fc.array(fc.uniqueArray(fc.nat(50)));
  fc.assert(
    fc.property(groups, (found) => {
      const badLines = new BadLines(MOST);
      for (const lines of found) {
        const inOrder = lines.sort((a, b) => a - b).map((line) => ({ line, problem: 'bad' }));
        badLines.add(inOrder.slice(0, MOST), lines.length);
      }
      const all = found.flat().sort((a, b) => a - b);
      expect(badLines.count).toBe(all.length);
      expect(badLines.first.map(({ line }) => line)).toEqual(all.slice(0, MOST));
    }),
  );
});
