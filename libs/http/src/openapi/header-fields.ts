import type { HeaderObject, OpenAPIObject, ReferenceObject, ResponseObject } from '@nestjs/swagger';
import type { Draft } from './drafts';
import type { HeaderNote } from './operation-notes';
import type { SharedParts } from './shared-parts';

type HeaderNotes = Draft['notes']['headers'];
type Headers = Record<string, HeaderObject | ReferenceObject>;

/** Some requests with these statuses could not be read, so the service did not know the operation. */
const UNREADABLE = new Set([400, 408, 431]);

/**
 * Adds to each response the header fields that every response has, and those in the operation's notes. A value specific
 * to the operation gets its own component, `<operationId>.<name>`.
 */
export function noteHeaders(
  { operation, path, notes }: Draft,
  components: NonNullable<OpenAPIObject['components']>,
  parts: SharedParts,
): void {
  const share = (component: string, header: HeaderObject): ReferenceObject => {
    components.headers![component] = header;
    return { $ref: `#/components/headers/${component}` };
  };
  const headerOf = ({ name, example, description }: HeaderNote): HeaderObject => ({
    ...parts.headers[name]!,
    ...(description === undefined ? {} : { description }),
    ...(example === undefined ? {} : { example: example.replaceAll('{path}', path) }),
  });
  const refer = (note: HeaderNote): ReferenceObject => {
    const isShared = note.example === undefined && note.description === undefined;
    return share(isShared ? note.name : `${operation.operationId}.${note.name}`, headerOf(note));
  };
  for (const [text, response] of Object.entries(operation.responses) as [string, ResponseObject][]) {
    const status = Number(text);
    const noted = notes.headers.filter(
      ({ on }) => on === 'readable' || status < 400 || (on === 'kept' && !parts.notKept(status)),
    );
    const describe = (note: HeaderNotes[number]) =>
      note.on === 'readable' && UNREADABLE.has(status) ? optional(headerOf(note)) : refer(note);
    response.headers = {
      ...Object.fromEntries(parts.everyAnswer.map((name) => [name, refer({ name })])),
      ...headersOfStatus(status, parts),
      ...response.headers,
      ...Object.fromEntries(noted.map((note) => [note.name, describe(note)])),
    };
  }
}

/** Some of the requests with such a status never became a call of the operation. */
function optional(header: HeaderObject): HeaderObject {
  return { ...header, description: `${header.description} Absent if the request could not be read.` };
}

/** Header fields whose shared values would be wrong for this status. */
function headersOfStatus(status: number, { headers, headerExamples }: SharedParts): Headers {
  const examples = Object.entries(headerExamples[status] ?? {});
  return Object.fromEntries(examples.map(([name, example]) => [name, { ...headers[name]!, example }]));
}
