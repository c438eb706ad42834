import type { OpenAPIObject } from '@nestjs/swagger';
import type { RequestBodyObject, ResponseObject, SchemaObject } from '@nestjs/swagger';
import { type Draft, draftsOf } from './drafts';
import { errorResponses } from './error-responses';
import { noteHeaders } from './header-fields';
import { shareResponses } from './share-responses';
import type { SharedParts } from './shared-parts';

type Components = NonNullable<OpenAPIObject['components']>;

const NOT_MODIFIED = 'Not modified: the resource still has the ETag sent in `If-None-Match`.';

/**
 * Turns the notes of the decorators into responses, header fields and parameters of every operation in the document.
 */
export function completeDocument(document: OpenAPIObject, parts: SharedParts): void {
  const components: Components = (document.components ??= {});
  components.schemas = { ...components.schemas, ...parts.schemas };
  components.headers = {};
  components.parameters = parts.parameters;
  const drafts = draftsOf(document);
  for (const draft of drafts) {
    completeOperation(draft, components, parts);
  }
  components.responses = shareResponses(
    drafts.map(({ operation }) => operation.responses as Record<string, ResponseObject>),
    parts.responses,
  );
}

function completeOperation(draft: Draft, components: Components, parts: SharedParts): void {
  const { operation, method, notes } = draft;
  const parameters = notes.parameters.filter(({ onlyFor }) => onlyFor?.includes(method) ?? true);
  operation.parameters = [
    ...(operation.parameters ?? []),
    ...parameters.map(({ name }) => ({ $ref: `#/components/parameters/${name}` })),
  ];
  completeBody(draft, components, parts.bodyTypes[method] ?? []);
  const responses = operation.responses as Record<string, ResponseObject>;
  if (parameters.some(({ name }) => name === 'If-None-Match')) {
    responses['304'] = { description: NOT_MODIFIED };
  }
  const errors = [...parts.everyOperation, ...(parts.byMethod[method] ?? []), ...notes.errors];
  const possible = errors.filter(({ code }) => !notes.never.includes(code));
  Object.assign(responses, errorResponses(possible, parts));
  noteHeaders(draft, components, parts);
}

/** Adds examples and further media types to the body, and forbids additional members, which the service rejects. */
function completeBody({ operation, notes }: Draft, components: Components, types: string[]): void {
  const { content = {} } = (operation.requestBody ?? {}) as Partial<RequestBodyObject>;
  const json = content['application/json'];
  if (!json) {
    return;
  }
  if (Object.keys(notes.bodies).length > 0) {
    json.examples = notes.bodies;
  }
  const { $ref } = json.schema as { $ref?: string };
  const schema = $ref && components.schemas?.[$ref.replace('#/components/schemas/', '')];
  if (schema) {
    (schema as SchemaObject).additionalProperties = false;
  }
  for (const type of types) {
    content[type] = json;
  }
}
