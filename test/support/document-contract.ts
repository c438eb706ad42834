import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { inPlace } from './document';

interface CheckedAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

interface DocumentedResponse {
  headers?: Record<string, { required?: boolean }>;
  content?: Record<string, unknown>;
}

type Operations = Record<
  string,
  Record<string, { responses: Record<string, DocumentedResponse> } | undefined>
>;

/** Header fields of HTTP itself, of the connection and of CORS: nothing that the document has to tell. */
const TRANSPORT =
  /^(content-type|content-length|date|connection|keep-alive|transfer-encoding|vary|access-control-.+)$/;

/** Carried by every answer of the interface, whatever it is. */
const ALWAYS = [
  'x-ratelimit-limit',
  'x-ratelimit-remaining',
  'x-ratelimit-reset',
  'ratelimit-policy',
  'ratelimit',
  'x-request-id',
];

/** Holds answers against the OpenAPI document: status, body and header fields have to be documented. */
export class DocumentContract {
  private readonly ajv = new Ajv({ strict: false, allErrors: true });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly routes: { pattern: RegExp; path: string }[];
  private readonly document: OpenAPIObject;

  private constructor(served: OpenAPIObject) {
    this.document = { ...served, paths: inPlace(served, served.paths) as OpenAPIObject['paths'] };
    addFormats(this.ajv);
    this.ajv.addFormat('int32', true);
    this.ajv.addFormat('int64', true);
    // Answers are checked strictly: a member that the document does not know fails.
    const strict = structuredClone(this.document);
    for (const schema of Object.values(strict.components?.schemas ?? {})) {
      if ('type' in schema && schema.type === 'object') {
        schema.additionalProperties = false;
      }
    }
    this.ajv.addSchema(strict, 'document');
    this.routes = Object.keys(served.paths).map((path) => ({
      path,
      pattern: new RegExp(`^${path.replace(/\{[^}]+\}/g, '[^/]+')}$`),
    }));
  }

  /** One for each document in a process: what it compiles takes longer than a service takes to start. */
  static of(text: string): DocumentContract {
    const shared = globalThis as { documentContracts?: Map<string, DocumentContract> };
    const contracts = (shared.documentContracts ??= new Map<string, DocumentContract>());
    const contract = contracts.get(text) ?? new DocumentContract(JSON.parse(text) as OpenAPIObject);
    contracts.set(text, contract);
    return contract;
  }

  /** @throws Error that says in what the answer departs from the document */
  check(method: string, target: string, answer: CheckedAnswer): void {
    const [path = ''] = target.split('?', 1);
    const name = `${method} ${target} → ${answer.status}`;
    for (const header of ALWAYS) {
      if (!answer.headers.has(header)) {
        throw new Error(`${name} lacks ${header}`);
      }
    }
    // A path that cannot be decoded is none of an operation.
    const route = isDecodable(path) ? this.routes.find(({ pattern }) => pattern.test(path)) : undefined;
    const operation = route && (this.document.paths as Operations)[route.path]?.[documentedMethod(method)];
    if (!route || !operation) {
      this.checkSchema(name, '#/components/schemas/Error', answer.body, method);
      this.checkHeaders(name, answer, [
        'allow',
        'retry-after',
        'www-authenticate',
        'cache-control',
        ...ALWAYS,
      ]);
      return;
    }
    const response = operation.responses[String(answer.status)];
    if (!response) {
      throw new Error(`${name} is not documented for this operation`);
    }
    this.checkBody(
      name,
      [route.path, documentedMethod(method), String(answer.status)],
      response,
      answer,
      method,
    );
    this.checkHeaders(name, answer, Object.keys(response.headers ?? {}));
    for (const [header, { required }] of Object.entries(response.headers ?? {})) {
      if (required && !answer.headers.has(header)) {
        throw new Error(`${name} lacks ${header}, which the document requires`);
      }
    }
  }

  private checkBody(
    name: string,
    [path, method, status]: [string, string, string],
    response: DocumentedResponse,
    answer: CheckedAnswer,
    sentMethod: string,
  ): void {
    if (response.content === undefined) {
      if (answer.body !== undefined) {
        throw new Error(`${name} has a body, but none is documented`);
      }
      return;
    }
    const pointer = ['paths', path, method, 'responses', status, 'content', 'application/json', 'schema'];
    const escaped = pointer.map((part) =>
      encodeURIComponent(part.replaceAll('~', '~0').replaceAll('/', '~1')),
    );
    this.checkSchema(name, `#/${escaped.join('/')}`, answer.body, sentMethod);
  }

  private checkSchema(name: string, pointer: string, body: unknown, sentMethod: string): void {
    if (sentMethod === 'HEAD') {
      return;
    }
    let validate = this.validators.get(pointer);
    if (!validate) {
      validate = this.ajv.compile({ $ref: `document${pointer}` });
      this.validators.set(pointer, validate);
    }
    if (!validate(body)) {
      throw new Error(`${name} does not match ${pointer}: ${this.ajv.errorsText(validate.errors)}`);
    }
  }

  private checkHeaders(name: string, answer: CheckedAnswer, documented: string[]): void {
    const known = new Set(documented.map((header) => header.toLowerCase()));
    for (const header of answer.headers.keys()) {
      if (!known.has(header) && !TRANSPORT.test(header)) {
        throw new Error(`${name} has the header ${header}, which is not documented`);
      }
    }
  }
}

function isDecodable(path: string): boolean {
  try {
    return decodeURI(path) !== undefined;
  } catch {
    return false;
  }
}

function documentedMethod(method: string): string {
  return method === 'HEAD' ? 'get' : method.toLowerCase();
}
