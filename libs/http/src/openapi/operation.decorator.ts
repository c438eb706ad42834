import { HttpCode, type Type, applyDecorators } from '@nestjs/common';
import {
  ApiExtension,
  ApiExtraModels,
  ApiOperation,
  ApiResponse,
  type OperationObject,
  getSchemaPath,
} from '@nestjs/swagger';
import type { AnyDefinedError } from '../errors/define-error';
import { type Examples, documentErrors } from './operation-notes';

export interface OperationOptions {
  /** operationId. */
  id: string;
  summary: string;
  description: string;
  answer: {
    /** 200 when absent. */
    status?: 200 | 201 | 202 | 204;
    description: string;
    /** The resource's class; omitted for 204. */
    type?: Type<unknown>;
    /** The body is an array of at most this many resources. */
    maxItems?: number;
    /** A shared schema of the document instead of `type`. */
    schema?: string;
    /** An actual response body, or several by name. */
    example?: unknown;
    examples?: Examples;
  };
  /** Errors of this operation in addition to those of every operation. */
  errors?: AnyDefinedError[];
  stability?: 'experimental' | 'beta';
  hideTryItPanel?: boolean;
  /** Requests that the service sends because of this one. */
  callbacks?: OperationObject['callbacks'];
}

/** Names an operation, sets its success status, and documents it. */
export function Operation(options: OperationOptions): MethodDecorator {
  const { id, summary, description, answer, errors = [], stability, hideTryItPanel, callbacks } = options;
  const status = answer.status ?? 200;
  return applyDecorators(
    HttpCode(status),
    ApiOperation({ operationId: id, summary, description, ...(callbacks ? { callbacks } : {}) }),
    ApiResponse({ status, description: answer.description, ...contentOf(answer) }),
    ...(answer.type ? [ApiExtraModels(answer.type)] : []),
    documentErrors(...errors),
    ...(stability ? [ApiExtension('x-stability', stability)] : []),
    ...(hideTryItPanel ? [ApiExtension('x-hideTryItPanel', true)] : []),
  );
}

function contentOf({ type, maxItems, schema, example, examples }: OperationOptions['answer']) {
  if (!type && !schema) {
    return {};
  }
  const reference = { $ref: schema ? `#/components/schemas/${schema}` : getSchemaPath(type!) };
  const described = maxItems === undefined ? reference : { type: 'array', maxItems, items: reference };
  return {
    content: { 'application/json': { schema: described, ...(examples ? { examples } : { example }) } },
  };
}
