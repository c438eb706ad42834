import type { OpenAPIObject } from '@nestjs/swagger';
import Ajv, { type ValidateFunction } from 'ajv';
import addFormats from 'ajv-formats';
import { type DocumentedResponse, operationsOf } from './document';

interface CheckedAnswer {
  status: number;
  headers: Headers;
  body: unknown;
}

/** Header fields of HTTP, of the connection and of CORS, which the OpenAPI document need not name. */
const TRANSPORT =
  /^(content-type|x-content-type-options|content-length|date|connection|keep-alive|transfer-encoding|vary|access-control-.+)$/;

/** Header fields that every answer of the API has, whatever its status is. */
const ALWAYS =
  'x-ratelimit-limit x-ratelimit-remaining x-ratelimit-reset ratelimit-policy ratelimit x-request-id'.split(
    ' ',
  );

/** The response that is expected if the OpenAPI document has no operation for a request. */
const OUTSIDE: DocumentedResponse = {
  description: '',
  content: { 'application/json': { schema: { $ref: '#/components/schemas/Error' } } },
  headers: { allow: {}, 'retry-after': {}, 'www-authenticate': {}, 'cache-control': {} },
};

/** Checks answers against the OpenAPI document, which must name their status, body and header fields. */
export class DocumentContract {
  /** Does not validate the schemas, because the tests of the document do. */
  private readonly ajv = new Ajv({ strict: false, allErrors: true, meta: false, validateSchema: false });
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly operations: { pattern: RegExp; responses: Record<string, DocumentedResponse> }[];
  private readonly components: OpenAPIObject['components'];

  private constructor(served: OpenAPIObject) {
    addFormats(this.ajv);
    this.ajv.addFormat('int32', true);
    this.ajv.addFormat('int64', true);
    // A member that the OpenAPI document does not name fails the check.
    this.components = structuredClone(served.components);
    for (const schema of Object.values(this.components?.schemas ?? {})) {
      if ('properties' in schema) {
        schema.additionalProperties = false;
      }
    }
    this.operations = [...operationsOf(served)].map(([name, { responses }]) => ({
      pattern: new RegExp(`^${name.replace(/\{[^}]+\}/g, '[^/]+')}$`),
      responses,
    }));
  }

  /** A process has one contract for each document, because compiling the schemas takes longer than starting a service. */
  static forDocument(text: string): DocumentContract {
    const shared = globalThis as { documentContracts?: Map<string, DocumentContract> };
    const contracts = (shared.documentContracts ??= new Map<string, DocumentContract>());
    const contract = contracts.get(text) ?? new DocumentContract(JSON.parse(text) as OpenAPIObject);
    contracts.set(text, contract);
    return contract;
  }

  /** @throws Error that says how the answer differs from the OpenAPI document */
  check(method: string, target: string, answer: CheckedAnswer): void {
    const name = `${method} ${target} → ${answer.status}`;
    const response = this.responseTo(method, target.split('?', 1)[0]!, answer.status);
    if (!response) {
      throw new Error(`${name} is not documented for this operation`);
    }
    this.checkHeaders(name, answer, response.headers ?? {});
    if (response.content === undefined && answer.body !== undefined) {
      throw new Error(`${name} has a body, but none is documented`);
    }
    if (response.content !== undefined && method !== 'HEAD') {
      this.checkBody(name, answer, response.content['application/json']!.schema as object);
    }
  }

  private responseTo(method: string, path: string, status: number): DocumentedResponse | undefined {
    // No operation has a path that cannot be decoded.
    const decoded = decode(path);
    const request = decoded === undefined ? '' : `${method === 'HEAD' ? 'GET' : method} ${decoded}`;
    const operation = this.operations.find(({ pattern }) => pattern.test(request));
    return operation ? operation.responses[String(status)] : OUTSIDE;
  }

  private checkBody(name: string, { body }: CheckedAnswer, schema: object): void {
    const key = JSON.stringify(schema);
    const validate = this.validators.get(key) ?? this.ajv.compile({ ...schema, components: this.components });
    this.validators.set(key, validate);
    if (!validate(body)) {
      throw new Error(`${name} does not match ${key}: ${this.ajv.errorsText(validate.errors)}`);
    }
  }

  private checkHeaders(
    name: string,
    { headers }: CheckedAnswer,
    documented: Record<string, { required?: boolean }>,
  ): void {
    const known = Object.keys(documented).map((header) => header.toLowerCase());
    const required = Object.keys(documented).filter((header) => documented[header]!.required);
    for (const header of [...ALWAYS, ...required]) {
      if (!headers.has(header)) {
        throw new Error(`${name} lacks ${header}`);
      }
    }
    for (const header of headers.keys()) {
      if (![...known, ...ALWAYS].includes(header) && !TRANSPORT.test(header)) {
        throw new Error(`${name} has the header ${header}, which is not documented`);
      }
    }
  }
}

function decode(path: string): string | undefined {
  try {
    return decodeURI(path);
  } catch {
    return undefined;
  }
}
