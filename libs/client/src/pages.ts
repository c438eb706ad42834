import { nextCursor } from './links.ts';
import type { Answer } from './operations.ts';

const MOST_ENTRIES = 100;

interface ListInput {
  params?: { query?: { limit?: number; cursor?: string } };
}

/**
 * Reads a list page by page, as long as the responses link to a next page (RFC 8288, `rel="next"`). The default page
 * size is the largest, because each page counts as a request.
 * @throws whatever reading a page throws; Error if a page links to itself
 */
export async function* readPages<Input extends ListInput, Entry>(
  read: (input: Input) => Promise<Answer<Entry[]>>,
  input: Input,
): AsyncGenerator<Entry[], void, undefined> {
  let cursor = input.params?.query?.cursor;
  for (;;) {
    const query = { limit: MOST_ENTRIES, ...input.params?.query, cursor };
    const { data, response } = await read({ ...input, params: { ...input.params, query } });
    yield data;
    const next = nextCursor(response.headers);
    // The feed of events links to the next page even at its end.
    if (next === undefined || data.length === 0) {
      return;
    }
    if (next === cursor) {
      throw new Error('The page of a list links to itself.');
    }
    cursor = next;
  }
}
