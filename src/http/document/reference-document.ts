// This file makes the variant of the OpenAPI document for the reference pages, with samples and links to guides.
import type {
  OpenAPIObject,
  OperationObject,
  ParameterObject,
  ReferenceObject,
  RequestBodyObject,
  ResponseObject,
  SchemaObject,
} from '@nestjs/swagger';
import { type Responses, nameIn } from './complete-document';
import { type Guide, guidePath } from './guides';
import { samplesOf } from './samples';
import { ADDRESS_PLACEHOLDER } from './served-content';

type Shown = OperationObject & Record<`x-${string}`, unknown>;

export function referenceDocument(document: OpenAPIObject, guides: Guide[]): OpenAPIObject {
  const shown = JSON.parse(JSON.stringify(document), withoutPrefilling) as OpenAPIObject;
  const parameters = document.components!.parameters as Record<string, ParameterObject>;
  for (const [path, item] of Object.entries(shown.paths)) {
    for (const [method, operation] of Object.entries(item as Record<string, Shown>)) {
      const all = operation.parameters!.map((one) => ('$ref' in one ? parameters[nameIn(one.$ref)]! : one));
      const inPath = all.filter((one) => one.in === 'path');
      const body = exampleOf(shown, operation);
      operation['x-codeSamples'] = samplesOf(operation, method, path, inPath, body);
      operation.description = [operation.description, ...remarks(operation, method, guides)].join('\n\n');
      operation.responses = mergeRareErrors(shown, operation.responses as Responses);
    }
  }
  // Remove tags without a description, which the page would show as empty sections.
  shown.tags = shown.tags!.filter(({ description }) => description !== undefined);
  // Add a section for each guide, because Scalar shows headings of the description in the sidebar and in its search.
  const about = guides.slice(1).map(({ name, title, description }) => {
    return `## ${title}\n\n${description} [Read the guide](${ADDRESS_PLACEHOLDER}${guidePath(name)}).`;
  });
  shown.info.description = [shown.info.description, ...about].join('\n\n');
  return shown;
}

/**
 * Removes examples and defaults of optional parameters, because the reference page would fill in these values and send
 * them with each request.
 */
function withoutPrefilling(_key: string, value: unknown): unknown {
  const { required, schema } = (value ?? {}) as Partial<ParameterObject>;
  if (required !== false) {
    return value;
  }
  const bare = { ...schema, example: undefined, default: undefined };
  return { ...(value as ParameterObject), example: undefined, schema: bare };
}

function exampleOf({ components }: OpenAPIObject, { requestBody }: OperationObject): unknown {
  const content = (requestBody as RequestBodyObject | undefined)?.content['application/json'];
  const [first] = Object.values(content?.examples ?? {}) as { value: unknown }[];
  if (content === undefined || first !== undefined) {
    return first?.value;
  }
  const schema = components!.schemas![nameIn((content.schema as ReferenceObject).$ref)];
  const fields = Object.entries((schema as SchemaObject).properties as Record<string, SchemaObject>);
  return Object.fromEntries(fields.map(([name, { example }]) => [name, example]));
}

function remarks(operation: Shown, method: string, guides: Guide[]): string[] {
  const { 'x-stability': stability, 'x-hideTryItPanel': isHidden } = operation;
  const isList = operation.parameters!.some((one) => '$ref' in one && one.$ref.endsWith('/cursor'));
  const names = [
    ...(isList ? ['pagination'] : []),
    ...(['Events', 'Webhooks'].includes(operation.tags![0]!) ? ['events'] : []),
    ...(operation.tags![0] === 'Account' ? ['authentication', 'limits'] : []),
    ...(method === 'get' ? [] : ['idempotency']),
    ...(operation.deprecated ? ['deprecation'] : []),
    'errors',
  ];
  const links = guides
    .filter(({ name }) => names.includes(name))
    .map(({ name, title }) => `[${title}](${ADDRESS_PLACEHOLDER}${guidePath(name)})`);
  return [
    ...(stability ? [`**Stability: ${stability as string}.**`] : []),
    ...(isHidden ? [NOT_TRIED] : []),
    `Guides: ${links.join(', ')}.`,
  ];
}

const NOT_TRIED = `This page has no form to try this operation: its response has the orders of all callers. Run a sample from the [reference](${ADDRESS_PLACEHOLDER}/docs) instead.`;

const RARE = ['408', '413', '415', '431', '500', '503'];

/** Replaces the responses for rare errors, which are the same for every operation, by one response, `default`. */
function mergeRareErrors({ components }: OpenAPIObject, responses: Responses): Responses {
  const others = Object.entries(responses).filter(([status]) => !RARE.includes(status));
  const rare = Object.entries(responses).filter(([status]) => RARE.includes(status));
  const examples = rare.flatMap(([, response]) => {
    const { content } = (
      '$ref' in response ? components!.responses![nameIn(response.$ref)] : response
    ) as ResponseObject;
    return Object.entries(content!['application/json']!.examples as Record<string, { value: object }>);
  });
  const names = examples.map(([code, { value }]) => `\`${code}\` (${(value as { status: number }).status})`);
  const schema = { $ref: '#/components/schemas/Error' };
  const content = { 'application/json': { schema, examples: Object.fromEntries(examples) } };
  const description = `Rare errors, the same for every operation: ${names.join(', ')}.`;
  return { ...Object.fromEntries(others), default: { description, content } };
}
