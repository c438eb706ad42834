import { filesOf, read } from '../../support/files';

/** Matches each place where a program reads the clock of the machine. */
const READING = /\bDate\.now\b|\bDate\(\)|\bnew Date\b(?!\()/g;

// The system tier is left out, because it starts processes, which have the time of the machine.
it('No unit test and no test over HTTP knows the date of the machine', () => {
  const all = ['test/unit', 'test/http'].flatMap((folder) => filesOf(folder, '.ts'));
  const files = all.filter((file) => !file.endsWith('/time.spec.ts'));
  const readings = files.flatMap((file) =>
    [...read(file).matchAll(READING)].map(([reading]) => `${file}: ${reading}`),
  );
  expect(files.length).toBeGreaterThan(50);
  expect(readings).toEqual([]);
  expect('new Date; Date(); Date.now(); new Date(); new Date(0)'.match(READING)).toHaveLength(4);
});
