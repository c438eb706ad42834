import type { HeaderObject, ResponseObject } from '@nestjs/swagger';
import { type ErrorDefinition, errorCatalogue } from '../errors/define-error';
import type { ErrorNote } from './operation-notes';
import type { SharedParts } from './shared-parts';

/** An error as one operation returns it. */
interface DocumentedError extends ErrorDefinition {
  message: string;
  headers: Readonly<Record<string, string>>;
}

/**
 * One response per status; its examples are the error bodies by code, and the header fields sent with them.
 * @throws Error for a code that is not in the catalogue
 */
export function errorResponses(notes: ErrorNote[], parts: SharedParts): Record<string, ResponseObject> {
  const byStatus = new Map<number, DocumentedError[]>();
  for (const error of documentedErrors(notes)) {
    byStatus.set(error.status, [...(byStatus.get(error.status) ?? []), error]);
  }
  return Object.fromEntries([...byStatus].map(([status, errors]) => [status, errorResponse(errors, parts)]));
}

function documentedErrors(notes: ErrorNote[]): DocumentedError[] {
  const noted = new Map<string, ErrorNote['example']>();
  for (const { code, example } of notes) {
    noted.set(code, example ?? noted.get(code));
  }
  const known = errorCatalogue().filter(({ code }) => noted.has(code));
  const unknown = [...noted.keys()].filter((code) => known.every((error) => error.code !== code));
  if (unknown.length > 0) {
    throw new Error(`The document names error codes that no code defines: ${unknown.join(', ')}.`);
  }
  return known.map((definition) => {
    const { message, headers } = noted.get(definition.code) ?? {
      message: definition.example,
      headers: definition.exampleHeaders,
    };
    return { ...definition, message, headers };
  });
}

function errorResponse(errors: DocumentedError[], parts: SharedParts): ResponseObject {
  const examples = errors.map(({ code, message, status }) => {
    return [code, { value: { code, message, status } }] as const;
  });
  return {
    description: errors.map(({ code, when }) => `\`${code}\`: ${when}`).join('\n\n'),
    content: {
      'application/json': {
        schema: { $ref: '#/components/schemas/Error' },
        examples: Object.fromEntries(examples),
      },
    },
    headers: headersOf(errors, parts),
  };
}

/** Header fields sent with these errors, each with its values by code. */
function headersOf(errors: DocumentedError[], parts: SharedParts): Record<string, HeaderObject> {
  const headers: Record<string, HeaderObject> = {};
  for (const error of errors) {
    for (const [name, text] of Object.entries(error.headers)) {
      const { description, required, schema } = parts.headers[name]!;
      const header = (headers[name] ??= { description, required, schema, examples: {} });
      const value = (schema as { type?: string }).type === 'integer' ? Number(text) : text;
      Object.assign(header.examples as object, { [error.code]: { value } });
    }
  }
  return headers;
}
