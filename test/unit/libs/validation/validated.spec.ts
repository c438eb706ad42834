import { Field, QueryField, RepeatableQueryField, resourceId, text, validated } from '#libs/http';

class Body {
  @Field(text({ min: 1, max: 5 }), { description: '' })
  name!: string;

  @Field(resourceId, { description: '', optional: true })
  owner?: number;

  @Field(resourceId, { description: '', optional: true, nullable: true })
  removable?: number | null;
}

class Query {
  @QueryField(resourceId, { description: '' })
  limit: number = 20;

  @RepeatableQueryField(resourceId, { description: '', maxItems: 2 })
  id?: number[];
}

class MoreQuery extends Query {
  @QueryField(resourceId, { description: '' })
  owner?: number;
}

function refusalOf(shape: new () => object, value: object): unknown {
  try {
    return validated(shape, value);
  } catch (error) {
    return { ...(error as object), message: (error as Error).message };
  }
}

describe('a body', () => {
  it('becomes an instance with exactly the fields that were sent', () => {
    const body = validated(Body, { name: 'Rex', removable: null });
    expect(body).toBeInstanceOf(Body);
    expect({ ...body }).toEqual({ name: 'Rex', removable: null });
  });

  test.each([
    [{}, 'name is required and must be 1 to 5 characters, without NUL or unpaired surrogates.'],
    [{ name: 'Rexxxx' }, 'name must be 1 to 5 characters, without NUL or unpaired surrogates.'],
    [{ name: 'Rex', owner: null }, 'owner must be an integer from 1 to 9007199254740991.'],
    [{ name: 'Rex', removable: 0 }, 'removable must be an integer from 1 to 9007199254740991, or null.'],
    [{ name: 'Rex', age: 3 }, '"age" is not allowed here (allowed: name, owner, removable).'],
  ])('%j is rejected with a message that names the field and what is expected', (body, message) => {
    expect(refusalOf(Body, body)).toMatchObject({ status: 400, code: 'validation_failed', message });
  });

  test.each(['toString', 'constructor', 'hasOwnProperty', 'valueOf', '__proto__', 'isPrototypeOf'])(
    'rejects the field %s, which every object inherits',
    (name) => {
      const body = JSON.parse(`{"name": "Rex", "${name}": 1}`) as object;
      expect(refusalOf(Body, body)).toMatchObject({ status: 400, message: expect.stringContaining(name) });
    },
  );

  it('rejects an unknown field, with its name shortened and escaped', () => {
    const refusal = refusalOf(Body, { name: 'Rex', [`"\n\ud800${'x'.repeat(100)}`]: 1 }) as Error;
    expect(refusal.message).toContain(`"\\"\\n\ufffd${'x'.repeat(37)}…" is not allowed here`);
  });

  it('reports at most five problems, and how many more there are', () => {
    const { message } = refusalOf(Body, { a: 1, b: 1, c: 1, d: 1, e: 1, f: 1 }) as Error;
    expect(message.split('; ')).toHaveLength(6);
    expect(message).toMatch(/; 2 more\.$/);
  });

  it('rejects a value nested as deeply as 64 KiB allow', () => {
    const deep = JSON.parse('['.repeat(32_000) + ']'.repeat(32_000)) as unknown;
    expect(refusalOf(Body, { name: deep })).toMatchObject({ status: 400, code: 'validation_failed' });
  });
});

describe('a query', () => {
  test.each([
    [{}, { limit: 20 }],
    [{ limit: '7' }, { limit: 7 }],
    [{ id: '1' }, { limit: 20, id: [1] }],
    [
      { id: ['1', '2'], owner: '3' },
      { limit: 20, id: [1, 2], owner: 3 },
    ],
  ])('%j is read as %j', (sent, read) => {
    expect({ ...validated(MoreQuery, sent, true) }).toEqual(read);
  });

  test.each([
    [{ limit: ['1', '2'] }, /^limit must be .*, given once\.$/],
    [{ limit: '' }, /^limit must be an integer/],
    [{ id: ['1', '2', '3'] }, /^id must be .*, given at most 2 times\.$/],
    [{ id: ['1', 'x'] }, /^id must be an integer/],
    [{ page: '1' }, /^"page" is not allowed here \(allowed: owner, limit, id\)\.$/],
    [{ toString: '1' }, /^"toString" is not allowed here/],
  ])('%j is rejected', (sent, message) => {
    expect(refusalOf(MoreQuery, sent)).toMatchObject({
      code: 'validation_failed',
      message: expect.stringMatching(message),
    });
  });
});
