// Requests as code, for Swagger UI's own request snippets. A generator receives the request that was or would be sent.

/** The parameters of an operation, which are written out or refer to components. */
function parametersOf({ components, paths }, path, method) {
  const { parameters = [] } = paths[path][method];
  return parameters.map((part) => (part.$ref ? components.parameters[part.$ref.split('/').at(-1)] : part));
}

/** The request of an operation with what is typed, and otherwise with the examples of the OpenAPI document. */
export function exampleRequest({ fn, specSelectors, oas3Selectors }, path, method) {
  const operation = specSelectors.specResolvedSubtree(['paths', path, method]).toJS();
  const examples = operation.parameters?.map(({ in: place, name, schema }) => [
    `${place}.${name}`,
    place === 'path' ? schema.example : undefined,
  ]);
  const typed = Object.entries(specSelectors.parameterValues([path, method]).toJS());
  const [[type, content] = []] = Object.entries(operation.requestBody?.content ?? {});
  return fn.buildRequest({
    spec: {
      openapi: '3.0.3',
      paths: { [path]: { [method]: operation } },
      servers: [{ url: location.origin }],
    },
    operationId: operation.operationId,
    parameters: Object.fromEntries([...(examples ?? []), ...typed.filter(([, value]) => value)]),
    requestContentType: type,
    requestBody:
      type &&
      (oas3Selectors.requestBodyValue(path, method) ||
        JSON.stringify(Object.values(content.examples)[0].value, null, 2)),
  });
}

const quoted = (text) => `'${text.replaceAll("'", `'\\''`)}'`;

/** @param key shown as it is; without one, the command takes it from the environment */
export function curl(request, key) {
  const [url, method, body] = ['url', 'method', 'body'].map((name) => request.get(name));
  const fields = [...request.get('headers')].filter(([name]) => !/^(accept|x-api-key)$/i.test(name));
  const isImplied = method === (body ? 'POST' : 'GET');
  const parts = [
    `curl ${isImplied ? '' : method === 'HEAD' ? '--head ' : `-X ${method} `}${quoted(url)}`,
    key ? `-H ${quoted(`X-API-Key: ${key}`)}` : '-H "X-API-Key: $PETSTORE_KEY"',
    ...fields.map(([name, value]) => `-H ${quoted(`${name}: ${value}`)}`),
    ...(body ? [`-d ${quoted(body)}`] : []),
  ];
  return parts.join(' \\\n  ');
}

/** The typed value, unless it is not JSON. */
function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The operation of a request, and the values in its path, query and body. */
function readRequest(document, request) {
  const { paths } = document;
  const { pathname, searchParams } = new URL(request.get('url'));
  const method = request.get('method').toLowerCase();
  const patternOf = (path) => new RegExp(`^${path.replace(/\{\w+\}/g, '([^/]+)')}$`);
  const path = Object.keys(paths).find((path) => paths[path][method] && patternOf(path).test(pathname));
  const { operationId } = paths[path][method];
  const given = parametersOf(document, path, method).filter(({ name }) => searchParams.has(name));
  const query = given.map(({ name, schema: { items, type = 'string' } }) => {
    const values = searchParams
      .getAll(name)
      .map((text) => ((items ?? { type }).type === 'string' ? text : parsed(text)));
    return [name, items ? values : values[0]];
  });
  const names = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
  const values = patternOf(path).exec(pathname).slice(1).map(parsed);
  return {
    operationId,
    path:
      names.length > 0 ? Object.fromEntries(names.map((name, index) => [name, values[index]])) : undefined,
    query: query.length > 0 ? Object.fromEntries(query) : undefined,
    body: request.get('body') && parsed(request.get('body')),
  };
}

const literal = (value) => JSON.stringify(value, null, 2).replace(/^(\s*)"(\w+)":/gm, '$1$2:');
const OPTIONS = ['Idempotency-Key', 'If-Match', 'If-None-Match'];

/** What waits for events follows them. Only what deletes or cancels returns no data. */
function callOf(operationId, input) {
  if (operationId === 'listEvents' && input.query?.wait > 0) {
    const given = literal({ ...input, query: { ...input.query, wait: undefined } });
    return `for await (const { data, next } of store.followEvents(${given})) {\n  console.log(data, next);\n}`;
  }
  const call = `await store.${operationId}(${Object.keys(input).length > 0 ? literal(input) : ''});`;
  return /^(delete|cancel)/.test(operationId) ? call : `const { data } = ${call}\nconsole.log(data);`;
}

export function typescript(document, request) {
  const { operationId, ...given } = readRequest(document, request);
  const fields = OPTIONS.map((name) => [name, request.get('headers').get(name)]).filter(([, value]) => value);
  const header = fields.length > 0 ? Object.fromEntries(fields) : undefined;
  const input = Object.fromEntries(Object.entries({ ...given, header }).filter(([, value]) => value));
  return `import { createPetStoreClient } from '@petstore/client';

const store = createPetStoreClient({
  baseUrl: '${location.origin}',
  apiKey: process.env.PETSTORE_KEY!,
});
${callOf(operationId, input)}`;
}

const WORDS = { true: 'True', false: 'False', null: 'None' };

export function python(document, request) {
  const { body } = readRequest(document, request);
  const method = request.get('method').toLowerCase();
  const names = OPTIONS.filter((name) => request.get('headers').has(name));
  const headers = names.map((name) => `, "${name}": ${JSON.stringify(request.get('headers').get(name))}`);
  const written = JSON.stringify(body, null, 4)
    ?.replace(/^(\s*(?:"[^"]*": )?)(true|false|null)(?=,?$)/gm, (_line, before, word) => before + WORDS[word])
    .replaceAll('\n', '\n    ');
  return `import os
import requests

response = requests.${method}(
    ${JSON.stringify(request.get('url'))},
    headers={"X-API-Key": os.environ["PETSTORE_KEY"]${headers.join('')}},${written ? `\n    json=${written},` : ''}
)
response.raise_for_status()
print(response.${method === 'delete' ? 'status_code' : 'json()'})`;
}
