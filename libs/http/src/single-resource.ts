import { type ExecutionContext, applyDecorators, createParamDecorator } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { documentErrors, documentHeaders, documentParameters } from './openapi/operation-notes';
import { Precondition, entityTag, noneMatchHits } from './entity-tag';
import { PreconditionFailedError } from './errors';
import { JSON_TYPE, RepresentedBy } from './representation';

/** Sets the ETag of a single resource, and returns 304 to a GET that sends the same one. */
export function asSingleResource(
  resource: object,
  tagged: object,
  request: FastifyRequest,
  reply: FastifyReply,
): string | undefined {
  const body = JSON.stringify(resource);
  const tag = entityTag(tagged === resource ? body : JSON.stringify(tagged));
  void reply.header('ETag', tag);
  const ifNoneMatch = request.headers['if-none-match'];
  const reads = request.method === 'GET' || request.method === 'HEAD';
  if (reads && ifNoneMatch !== undefined && noneMatchHits(ifNoneMatch, tag)) {
    void reply.status(304);
    return undefined;
  }
  void reply.type(JSON_TYPE);
  return body;
}

/**
 * The response is one resource with an ETag; reads support `If-None-Match`.
 * @param read the representation that a GET would return, if this operation returns more
 */
export function SingleResource<Resource extends object>(
  read: (resource: Resource) => object = (resource) => resource,
): MethodDecorator {
  return applyDecorators(
    RepresentedBy((resource: Resource, request: FastifyRequest, reply: FastifyReply) =>
      asSingleResource(resource, read(resource), request, reply),
    ),
    documentHeaders('success', 'ETag'),
    documentParameters({ onlyFor: ['get'], name: 'If-None-Match' }),
  );
}

const precondition = createParamDecorator((_data: unknown, context: ExecutionContext) => {
  const { method, headers } = context.switchToHttp().getRequest<FastifyRequest>();
  const mustNotExist = method === 'PUT' && headers['if-none-match']?.trim() === '*';
  const ifMatch = headers['if-match'];
  return ifMatch === undefined && !mustNotExist ? Precondition.NONE : new Precondition(ifMatch, mustNotExist);
});

/** Parameter decorator: the Precondition of the request. Documents `If-Match` and the 412. */
export function IfMatch(): ParameterDecorator {
  return (target, key, index) => {
    precondition()(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    documentErrors(PreconditionFailedError)(target, key!, descriptor);
    documentParameters({ name: 'If-Match' })(target, key!, descriptor);
  };
}
