import { MAX_PAGE_SIZE } from '#libs/http';
import { MAX_PAGE_ROWS } from '../../../../libs/database/src/pages';

it('A statement reads the largest page that a request may ask for', () => {
  expect(MAX_PAGE_ROWS).toBe(MAX_PAGE_SIZE);
});
