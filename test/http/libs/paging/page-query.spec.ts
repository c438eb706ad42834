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

  describe.each(['/pets', '/categories', '/store/orders', '/store/inventory'])('of %s', (list) => {
    test.each(['limit=1', 'limit=100', 'cursor=YWZ0ZXI6MjA', 'cursor=YWZ0ZXI6OTAwNzE5OTI1NDc0MDk5MQ'])(
      '200: may be empty: %s',
      async (query) => {
        const { status, body, headers } = await caller.get(`${list}?${query}`);
        expect([status, body, headers.has('link')]).toEqual([200, [], false]);
      },
    );

    test.each(LIMITS)('400: rejects limit=%s', async (limit) => {
      const { body } = await caller.get<ErrorBody>(`${list}?limit=${limit}`);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
      expect(body.message).toContain('limit must be an integer from 1 to 100');
    });

    test.each(CURSORS)('400: rejects cursor=%s', async (cursor) => {
      const { body } = await caller.get<ErrorBody>(`${list}?cursor=${cursor}`);
      expect(body).toMatchObject({ code: 'invalid_cursor', status: 400 });
    });

    it('400: rejects two cursors', async () => {
      const { body } = await caller.get<ErrorBody>(`${list}?cursor=YWZ0ZXI6MjA&cursor=YWZ0ZXI6MjA`);
      expect(body).toMatchObject({ code: 'validation_failed', status: 400 });
    });
  });
});
