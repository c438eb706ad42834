import { execFileSync } from 'node:child_process';
import { openapiDocument } from '../../../../../src/cli/openapi-document';
import { read } from '../../../../support/files';

/** Beside the page's module: what it shows for a request of every operation, and for some with more than that. */
const SAMPLES = `
  globalThis.location = { origin: 'https://pets.example' };
  const { readFileSync } = await import('node:fs');
  const served = JSON.parse(readFileSync(0, 'utf8'));
  const asked = ({ headers, ...request }) => new Map(Object.entries({ ...request, headers: new Map(Object.entries(headers)) }));
  const example = (path, method) => {
    const valueOf = (_whole, name) => parametersOf(served, path, method).find((part) => part.name === name).schema.example;
    const [content] = Object.values(served.paths[path][method].requestBody?.content ?? {});
    const body = content && JSON.stringify(Object.values(content.examples)[0].value);
    return { url: location.origin + path.replace(/{(\\w+)}/g, valueOf), method: method.toUpperCase(), headers: {}, body };
  };
  const all = Object.entries(served.paths).flatMap(([path, item]) => Object.keys(item).map((method) => example(path, method)));
  const pets = example('/pets', 'get');
  pets.url += '?id=1&id=2&status=sold&name=re&limit=2';
  const events = example('/events', 'get');
  events.url += '?wait=20&type=order.placed';
  const order = example('/store/orders', 'post');
  order.headers['Idempotency-Key'] = 'order-2026-1';
  const pet = example('/pets/{petId}', 'put');
  pet.headers['If-Match'] = '"tag"';
  const category = example('/categories/{categoryId}', 'get');
  category.headers['If-None-Match'] = '"tag"';
  const requests = [...all, category, pets, events, order, pet].map(asked);
  console.log(JSON.stringify(requests.map((request) => [typescript(served, request), python(served, request)])));`;

/** What the page shows as examples, in TypeScript and in Python: of every operation, and the four last with options. */
export async function shownSamples(): Promise<[typescript: string, python: string][]> {
  const module = read('src/http/document/browser/samples.js');
  const program = ['--input-type=module', '--eval', `${module}\n${SAMPLES}`];
  const input = await openapiDocument('json');
  const output = execFileSync(process.execPath, program, { input, encoding: 'utf8' });
  return JSON.parse(output) as [string, string][];
}
