// This file writes the code samples for the reference page. A sample runs unchanged if the environment variable
// PETSTORE_KEY is set.
import type { OperationObject, ParameterObject } from '@nestjs/swagger';
import { ADDRESS_PLACEHOLDER } from './served-content';

interface Sample {
  lang: string;
  label: string;
  source: string;
}

interface SampleRequest {
  id: string;
  method: string;
  url: string;
  pathValues: Record<string, unknown>;
  body: unknown;
}

/**
 * Writes code samples of an operation in all languages.
 * @param parameters path parameters, each with an example
 * @param body example of the body; undefined if the operation has none
 */
export function samplesOf(
  { operationId }: OperationObject,
  method: string,
  path: string,
  parameters: ParameterObject[],
  body: unknown,
): Sample[] {
  const values = parameters.map(({ name, schema }) => [name, (schema as { example: unknown }).example]);
  const pathValues = Object.fromEntries(values) as Record<string, unknown>;
  const url =
    ADDRESS_PLACEHOLDER + path.replace(/{(\w+)}/g, (_all, name: string) => String(pathValues[name]));
  const request = { id: operationId!, method: method.toUpperCase(), url, pathValues, body };
  return [
    { lang: 'shell', label: 'curl', source: curl(request) },
    { lang: 'javascript', label: 'JavaScript', source: javaScript(request) },
    { lang: 'python', label: 'Python', source: python(request) },
    { lang: 'typescript', label: 'SDK', source: sdk(request) },
  ];
}

const isKeyed = ({ method }: SampleRequest): boolean => method === 'POST';

function json(value: unknown, indent: number, margin: string): string {
  const lines = JSON.stringify(value, null, indent);
  const line = lines.replace(/([{[])\n +|\n *([}\]])|\n +/g, (_all, open?: string, close?: string) => {
    return (open && `${open} `) ?? (close && ` ${close}`) ?? ' ';
  });
  return line.length <= 60 ? line : lines.replaceAll('\n', `\n${margin}`);
}

function javaScriptLiteral(value: unknown, margin: string): string {
  return json(value, 2, margin).replace(/"(\w+)":/g, '$1:');
}

function curl(request: SampleRequest): string {
  const { method, url, body } = request;
  const quoted = `'${json(body ?? null, 2, '').replaceAll("'", `'\\''`)}'`;
  return [
    `curl -i${method === 'GET' ? '' : ` -X ${method}`} ${url}`,
    '-H "X-API-Key: $PETSTORE_KEY"',
    ...(isKeyed(request) ? ['-H "Idempotency-Key: $(openssl rand -hex 16)"'] : []),
    ...(body === undefined ? [] : ["-H 'Content-Type: application/json'", `-d ${quoted}`]),
  ].join(' \\\n  ');
}

function javaScript(request: SampleRequest): string {
  const { method, url, body } = request;
  const headers = [
    "'X-API-Key': process.env.PETSTORE_KEY,",
    ...(isKeyed(request) ? ["'Idempotency-Key': crypto.randomUUID(),"] : []),
    ...(body === undefined ? [] : ["'Content-Type': 'application/json',"]),
  ];
  const options = [
    ...(method === 'GET' ? [] : [`method: '${method}',`]),
    'headers: {',
    ...headers.map((line) => `  ${line}`),
    '},',
    ...(body === undefined ? [] : [`body: JSON.stringify(${javaScriptLiteral(body, '  ')}),`]),
  ];
  return `const response = await fetch('${url}', {
${options.map((line) => `  ${line}`).join('\n')}
});
console.log(response.status, await response.text());
`;
}

const PYTHON_WORDS: Record<string, string> = { true: 'True', false: 'False', null: 'None' };

function python(request: SampleRequest): string {
  const { method, url, body } = request;
  const literal = json(body ?? null, 4, '    ').replace(
    /("(?:[^"\\]|\\.)*")|\b(?:true|false|null)\b/g,
    (word: string, text?: string) => text ?? PYTHON_WORDS[word]!,
  );
  const key = `"X-API-Key": os.environ["PETSTORE_KEY"]`;
  const headers = isKeyed(request)
    ? `{\n        ${key},\n        "Idempotency-Key": str(uuid.uuid4()),\n    }`
    : `{${key}}`;
  return `import os
${isKeyed(request) ? 'import uuid\n' : ''}
import requests

response = requests.${method.toLowerCase()}(
    "${url}",
    headers=${headers},${body === undefined ? '' : `\n    json=${literal},`}
)
print(response.status_code, response.text)
`;
}

function sdk({ id, pathValues, body }: SampleRequest): string {
  const path = Object.keys(pathValues).length > 0 ? { path: pathValues } : {};
  const input = { ...path, ...(body === undefined ? {} : { body }) };
  const written = Object.keys(input).length > 0 ? javaScriptLiteral(input, '') : '';
  return `import { createPetStoreClient } from '@petstore/client';

const store = createPetStoreClient({
  baseUrl: '${ADDRESS_PLACEHOLDER}',
  apiKey: process.env.PETSTORE_KEY,
});
const { data, response } = await store.${id}(${written});
console.log(response.status, data);
`;
}
