import type { ErrorBody } from '../../../support/api-client';
import { useStore } from '../../../support/use-service';

const LIMITS = ['0', '101', '-1', '1.5', '1e1', '05', '', 'x', '1&limit=2', '9007199254740993'];
const CURSORS = [
  '',
  '20',
  'x',
  'YWZ0ZXI6MA',
  'YWZ0ZXI6MjA%3D',
  'YWZ0ZXI6MjAg',
  // Of the feed.
  'ZXZlbnQ6MjA',
  '%F0%9F%90%95',
  'a'.repeat(5_000),
];

describe('the parameters of a page', () => {
  const { caller } = useStore();

  it.each(['/pets', '/categories', '/store/orders', '/store/inventory', '/webhooks'])(
    'of %s are checked',
    async (list) => {
      for (const query of [
        'limit=1',
        'limit=100',
        'cursor=YWZ0ZXI6MjA',
        'cursor=YWZ0ZXI6OTAwNzE5OTI1NDc0MDk5MQ',
      ]) {
        const { status, body, headers } = await caller.get(`${list}?${query}`);
        expect([query, status, body, headers.has('link')]).toEqual([query, 200, [], false]);
      }
      for (const limit of LIMITS) {
        const { body } = await caller.get<ErrorBody>(`${list}?limit=${limit}`);
        expect([limit, body]).toEqual([
          limit,
          expect.objectContaining({ code: 'validation_failed', status: 400 }),
        ]);
        expect(body.message).toContain('limit must be an integer from 1 to 100');
      }
      for (const cursor of CURSORS) {
        const { body } = await caller.get<ErrorBody>(`${list}?cursor=${cursor}`);
        expect([cursor, body]).toEqual([
          cursor,
          expect.objectContaining({ code: 'invalid_cursor', status: 400 }),
        ]);
      }
      const { body } = await caller.get<ErrorBody>(`${list}?cursor=YWZ0ZXI6MjA&cursor=YWZ0ZXI6MjA`);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
    },
  );
});
