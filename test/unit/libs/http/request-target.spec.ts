import { repairRequestTarget } from '#libs/http';

test.each([
  ['/pets', '/pets'],
  ['/pets/%31?name=%zz', '/pets/%31?name=%zz'],
  ['/caf%C3%A9', '/caf%C3%A9'],
  ['/100%', '/100%25'],
  ['/%zz', '/%25zz'],
  ['/%zz/%31', '/%25zz/%2531'],
  ['/%ff', '/%25ff'],
  ['/%c0%af', '/%25c0%25af'],
  ['/%ed%a0%80', '/%25ed%25a0%2580'],
  ['/%f0%9f%90', '/%25f0%259f%2590'],
  ['/%zz?a=%31&b=%zz', '/%25zz?a=%31&b=%zz'],
  ['*', '/*'],
  ['', ''],
])('%s is routed as %s', (target, repaired) => {
  expect(repairRequestTarget(target)).toBe(repaired);
});

it('A repaired target can be decoded', () => {
  for (const target of ['/%', '/%%%', '/%u0041', `/${'%f'.repeat(1_000)}`]) {
    expect(decodeURIComponent(repairRequestTarget(target))).toBe(target);
  }
});
