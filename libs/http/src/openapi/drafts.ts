import type { OpenAPIObject, OperationObject } from '@nestjs/swagger';
import { NOTES, type OperationNotes, noNotes } from './operation-notes';

/** One operation while its notes are turned into parts of the document. */
export interface Draft {
  operation: OperationObject;
  path: string;
  method: string;
  notes: OperationNotes;
}

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const;

/** Every operation of the document with its notes, which are removed from the document. */
export function draftsOf(document: OpenAPIObject): Draft[] {
  return Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method];
      return operation ? [{ operation, path, method, notes: takeNotes(operation) }] : [];
    }),
  );
}

function takeNotes(operation: OperationObject): OperationNotes {
  const extensions = operation as unknown as Record<string, Partial<OperationNotes> | undefined>;
  const notes = { ...noNotes(), ...extensions[NOTES] };
  delete extensions[NOTES];
  return notes;
}
