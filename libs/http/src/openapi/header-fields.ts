import type { HeaderObject, OpenAPIObject, ReferenceObject, ResponseObject } from '@nestjs/swagger';
import type { Draft } from './drafts';
import type { HeaderNote } from './operation-notes';
import type { SharedParts } from './shared-parts';

type Headers = Record<string, HeaderObject | ReferenceObject>;

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
  const refer = ({ name, example, description }: HeaderNote): ReferenceObject => {
    const header = { ...parts.headers[name]!, ...(description ? { description } : {}) };
    return example === undefined
      ? share(name, header)
      : share(`${operation.operationId}.${name}`, { ...header, example: example.replaceAll('{path}', path) });
  };
  for (const [text, response] of Object.entries(operation.responses) as [string, ResponseObject][]) {
    const status = Number(text);
    const noted = notes.headers.filter(
      ({ on }) => on === 'every' || (on === 'kept' ? !parts.notKept(status) : status < 400),
    );
    response.headers = {
      ...Object.fromEntries(parts.everyAnswer.map((name) => [name, refer({ name })])),
      ...headersOfStatus(status, parts),
      ...response.headers,
      ...Object.fromEntries(noted.map((note) => [note.name, refer(note)])),
    };
  }
}

/** Header fields whose shared values would be wrong for this status. */
function headersOfStatus(status: number, { headers, headerExamples }: SharedParts): Headers {
  const examples = Object.entries(headerExamples[status] ?? {});
  return Object.fromEntries(examples.map(([name, example]) => [name, { ...headers[name]!, example }]));
}
