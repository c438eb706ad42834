import { cursorAfter } from './cursor';
import { QueryField } from '../validation/field.decorator';
import { integer, type Rule } from '../validation/rules';

export const MAX_PAGE_SIZE = 100;
export const DEFAULT_PAGE_SIZE = 20;

export const cursorText: Rule = {
  accepts: (value) => typeof value === 'string',
  takes: 'a cursor',
  schema: { type: 'string', maxLength: 64, pattern: '^[A-Za-z0-9_-]+$' },
};

/** The query parameters of every list. */
export class PageQuery {
  @QueryField(integer({ min: 1, max: MAX_PAGE_SIZE }), {
    description: 'Maximum number of entries on a page.',
    default: DEFAULT_PAGE_SIZE,
    example: 20,
  })
  limit?: number;

  @QueryField(cursorText, {
    description: 'Where the page starts. Opaque: use the one from the `Link` header of the previous page.',
    example: cursorAfter(20),
  })
  cursor?: string;
}
