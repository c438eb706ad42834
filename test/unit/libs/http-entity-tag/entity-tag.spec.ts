import { Precondition, entityTag, noneMatchHits } from '#libs/http';

const RESOURCE = { id: 1, name: 'Rex' };
const TAG = entityTag(JSON.stringify(RESOURCE));
const OTHER = entityTag('{}');

describe('an entity tag', () => {
  it('is strong, quoted and short', () => expect(TAG).toMatch(/^"[\w-]{22}"$/));

  it('is equal for equal bytes and different for different ones', () => {
    expect(entityTag('{"id":1,"name":"Rex"}')).toBe(TAG);
    expect(OTHER).not.toBe(TAG);
  });
});

const HITS = [
  ['the tag', TAG],
  ['the tag in weak form', `W/${TAG}`],
  ['a list with the tag', `${OTHER}, W/"x,y",${TAG}`],
  ['any', '*'],
  ['*, with white space', ' * '],
] as const;

const MISSES = [
  ['another tag', OTHER],
  ['a list without it', `${OTHER}, "*"`],
  ['the tag without its quotes', TAG.slice(1, -1)],
  ['a tag that contains it after a comma', `"x,${TAG.slice(1)}`],
  ['nothing', ''],
] as const;

describe('If-None-Match', () => {
  test.each(HITS)('%s matches', (_what, field) => expect(noneMatchHits(field, TAG)).toBe(true));
  test.each(MISSES)('%s does not match', (_what, field) => expect(noneMatchHits(field, TAG)).toBe(false));
});

describe('If-Match', () => {
  const check = (field: string | undefined) => () => new Precondition(field).assertHolds(RESOURCE);

  test.each(HITS.filter(([what]) => !what.includes('weak')))('%s matches', (_what, field) => {
    expect(check(field)).not.toThrow();
  });

  it('passes when it is absent', () => expect(check(undefined)).not.toThrow());

  test.each([...MISSES, ['the tag in weak form', `W/${TAG}`] as const])('%s fails', (_what, field) => {
    expect(check(field)).toThrow(expect.objectContaining({ status: 412, code: 'precondition_failed' }));
  });
});
