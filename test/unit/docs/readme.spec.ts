import { read } from '../../support/files';

it('The README lists every variable of the example environment, and no other', () => {
  const example = read('.env.example').match(/^(?:# )?[A-Z][A-Z_]+(?==)/gm)!;
  const listed = [...read('README.md').matchAll(/^\| `([A-Z][A-Z_]+)` +\|/gm)].map(([, name]) => name);
  expect(listed.toSorted()).toEqual(example.map((name) => name.replace('# ', '')).toSorted());
});
