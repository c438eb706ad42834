import { Injectable, Param, type PipeTransform } from '@nestjs/common';
import { ApiParam } from '@nestjs/swagger';
import { ValidationFailedError } from '../errors';
import { documentError } from '../openapi/operation-notes';
import { identifier } from './rules';

@Injectable()
class IdPipe implements PipeTransform<string, number> {
  constructor(private readonly name: string) {}

  transform(text: string): number {
    const id = identifier.parse!(text);
    if (!identifier.accepts(id)) {
      throw new ValidationFailedError(refusalOf(this.name));
    }
    return id as number;
  }
}

function refusalOf(name: string): string {
  return `${name} must be ${identifier.takes}.`;
}

/** Parameter decorator: an identifier in the path, as a number. Anything else is 400 `validation_failed`. */
export function IdParam(name: string, description: string): ParameterDecorator {
  return (target, key, index) => {
    Param(name, new IdPipe(name))(target, key, index);
    const descriptor = Object.getOwnPropertyDescriptor(target, key!)!;
    ApiParam({ name, description, required: true, schema: { ...identifier.schema, example: 1 } } as never)(
      target,
      key!,
      descriptor,
    );
    documentError(ValidationFailedError, refusalOf(name))(target, key!, descriptor);
  };
}
