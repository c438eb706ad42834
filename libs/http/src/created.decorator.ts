import { applyDecorators } from '@nestjs/common';
import { documentHeaders } from './openapi/operation-notes';
import { RepresentedBy, representationOf } from './representation';

/**
 * The operation creates a resource of this collection: its response has a `Location`, the collection's path and the new
 * id (RFC 9110, section 10.2.2). Place it above the decorator for the representation.
 */
export function Created(collection: string): MethodDecorator {
  return applyDecorators(
    located(collection),
    documentHeaders('success', { name: 'Location', example: `${collection}/1` }),
  );
}

function located(collection: string): MethodDecorator {
  return (target, key, descriptor) => {
    const represent = representationOf(descriptor.value as object)!;
    RepresentedBy((resource, request, reply) => {
      void reply.header('Location', `${collection}/${(resource as { id: number }).id}`);
      return represent(resource, request, reply);
    })(target, key, descriptor);
  };
}
