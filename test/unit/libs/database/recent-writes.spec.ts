import { RecentWrites } from '../../../../libs/database/src/replicas/recent-writes';

it('The last write of each session is known, for as long as it is kept', () => {
  const writes = new RecentWrites(1_000);
  writes.add(7, 100);
  writes.add(8, 200);
  writes.add(7, 900);
  writes.forgetOld(1_200);
  expect([7, 8, 9].map((session) => writes.lastOf(session))).toEqual([900, -Infinity, -Infinity]);
  expect(writes.size).toBe(1);
  writes.forgetOld(1_900);
  expect(writes.size).toBe(0);
});
