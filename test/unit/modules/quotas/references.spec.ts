import { clientName } from '../../../../src/modules/quotas/clients.command';
import { keyReference } from '../../../../src/modules/quotas/keys.command';

it('A key is an id or the whole key', () => {
  expect([keyReference('7'), keyReference('psk_live_abc')]).toEqual([7, 'psk_live_abc']);
  for (const text of ['0', 'abc', '']) {
    expect(() => keyReference(text)).toThrow('is not an id');
  }
});

it("A client's name is up to 100 letters, digits and few signs", () => {
  const good = ['acme', 'a', 'Acme_2.shop-eu', 'x'.repeat(100)];
  expect(good.map(clientName)).toEqual(good);
  for (const text of ['', '-acme', 'a b', 'x'.repeat(101), 'a\nb', 'ä']) {
    expect(() => clientName(text)).toThrow('a client name is 1 to 100');
  }
});
