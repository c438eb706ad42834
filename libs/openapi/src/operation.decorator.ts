import { HttpCode, type Type, applyDecorators } from '@nestjs/common';
import { ApiExtension, ApiOperation, ApiResponse } from '@nestjs/swagger';
import type { AnyDefinedError } from '#libs/errors';
import { documentErrors } from './operation-notes';

export interface OperationOptions {
  /** operationId. */
  id: string;
  summary: string;
  description: string;
  answer: {
    /** 200 when absent. */
    status?: 200 | 201 | 204;
    description: string;
    /** The resource's class; none for 204. */
    type?: Type<unknown>;
    /** The body is an array of the resource. */
    isArray?: boolean;
    /** A shared schema of the document instead of `type`. */
    schema?: string;
    example?: unknown;
  };
  /** Errors of this operation beside those that every operation has. */
  errors?: AnyDefinedError[];
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
}

/** Names an operation, fixes its successful status, and documents it. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, answer, errors = [], stability, hideTryItPanel } = options;
  const status = answer.status ?? 200;
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId: id, summary, description }),
    ApiResponse({ status, description: answer.description, ...contentOf(answer) }),
    documentErrors(...errors),
    ...(stability ? [ApiExtension('x-stability', stability)] : []),
    ...(hideTryItPanel ? [ApiExtension('x-hideTryItPanel', true)] : []),
  );
}

function contentOf({ type, isArray, schema, example }: OperationOptions['answer']) {
  if (schema) {
    return {
      content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` }, example } },
    };
  }
  return type ? { type, isArray: isArray ?? false, example } : {};
}
