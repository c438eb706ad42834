import { readFileSync, readdirSync } from 'node:fs';
import { basename, join } from 'node:path';
import { type ErrorDefinition, errorCatalogue } from '#libs/http';
// Loads every module, and with them every error that is defined.
import '../../../src/app.module';
import { operationsOf } from '../../support/document';
import { ROOT } from '../../support/files';
import { useService } from '../../support/use-service';

/** They answer where there is no operation, so no operation documents them. */
const OUTSIDE_OF_OPERATIONS = ['404 route_not_found', '405 method_not_allowed'];

/** Their messages say what the operation takes, and differ from one to the other. */
const OF_THE_OPERATION = ['validation_failed', 'insufficient_scope', 'unsupported_media_type'];

interface DocumentedAnswer {
  description: string;
  content?: Record<
    string,
    { examples?: Record<string, { value: { code: string; message: string; status: number } }> }
  >;
}

const sorted = (pairs: Iterable<string>) => [...new Set(pairs)].sort();

describe('The error catalogue', () => {
  const service = useService();

  it('matches the codes in the document, except those returned outside of operations', () => {
    const documented = answers().flatMap(({ status, answer }) => {
      return Object.keys(answer.content?.['application/json']?.examples ?? {}).map(
        (code) => `${status} ${code}`,
      );
    });
    const defined = errorCatalogue().map(({ status, code }) => `${status} ${code}`);
    expect(sorted([...documented, ...OUTSIDE_OF_OPERATIONS])).toEqual(sorted(defined));
  });

  it('is the list of codes that an Error object can have', () => {
    const { Error: schema } = service.document.components!.schemas as Record<
      string,
      { properties: { code: { enum: string[] } } }
    >;
    expect(schema!.properties.code.enum).toEqual(errorCatalogue().map(({ code }) => code));
  });

  it('is described in the introduction if no operation documents it', () => {
    for (const [status, code] of OUTSIDE_OF_OPERATIONS.map((pair) => pair.split(' '))) {
      expect(service.document.info.description).toMatch(new RegExp(`${status}\\s+\`${code}\``));
    }
  });

  it('is documented correctly: when it occurs, and its message', () => {
    const byCode = new Map(errorCatalogue().map((definition) => [definition.code, definition]));
    for (const { status, answer } of answers()) {
      for (const [code, { value }] of Object.entries(answer.content?.['application/json']?.examples ?? {})) {
        const { when, example } = byCode.get(code)!;
        const message = OF_THE_OPERATION.includes(code) ? value.message : example;
        expect(value).toEqual({ code, message, status: Number(status) });
        expect(answer.description).toContain(`\`${code}\`: ${when}`);
      }
    }
  });

  it('has messages that are sentences and reveal no internals', () => {
    for (const { when, example } of errorCatalogue()) {
      expect(when).toMatch(/^[A-Z`].*\.$/s);
      expect(example).toMatch(/^\S.*\.$/);
      expect(example).not.toMatch(
        /\b(SELECT|INSERT|undefined|null|NaN|\[object|psk_live_[0-9A-Za-z]+|\/(home|root|tmp)\/|node_modules)\b/,
      );
    }
  });

  test.each(errorCatalogue())('$code is asserted by a test', ({ code }: ErrorDefinition) => {
    const pattern = new RegExp(`['"\`]${code}['"\`]`);
    expect(specs.filter(({ text }) => pattern.test(text)).map(({ file }) => file)).not.toEqual([]);
  });

  function answers(): { status: string; answer: DocumentedAnswer }[] {
    return [...operationsOf(service.document).values()].flatMap(({ responses }) =>
      Object.entries(responses)
        .filter(([status]) => Number(status) >= 400)
        .map(([status, answer]) => ({ status, answer: answer as DocumentedAnswer })),
    );
  }
});

/** Test files, but for this one. */
const specs = readdirSync(join(ROOT, 'test'), { recursive: true, encoding: 'utf8' })
  .filter((file) => file.endsWith('.spec.ts') && !file.endsWith(basename(__filename)))
  .map((file) => ({ file, text: readFileSync(join(ROOT, 'test', file), 'utf8') }));
