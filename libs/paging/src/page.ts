import { applyDecorators } from '@nestjs/common';
import type { FastifyReply, FastifyRequest } from 'fastify';
import { JSON_TYPE, RepresentedBy, routeOf } from '#libs/http';
import { documentErrors, documentHeaders } from '#libs/openapi';
import { type CursorKind, InvalidCursorError, cursorAfter } from './cursor';

/** One page of a list in ascending id. */
export interface Page<Entry> {
  entries: Entry[];
  /** Id of the last entry when more entries follow, null on the last page of a list that has an end. */
  lastId: number | null;
}

/**
 * Cuts a page out of what was read.
 * @param rows one more than the page holds were asked for, to learn whether anything follows
 */
export function pageOf<Entry>(rows: Entry[], limit: number, idOf: (entry: Entry) => number): Page<Entry> {
  const entries = rows.slice(0, limit);
  const last = entries.at(-1);
  return { entries, lastId: rows.length > limit && last !== undefined ? idOf(last) : null };
}

/** Sends a page as a bare array, with `Link: <…>; rel="next"` (RFC 8288) when, and only when, more follows. */
function pageWith(kind: CursorKind) {
  return ({ entries, lastId }: Page<unknown>, request: FastifyRequest, reply: FastifyReply): string => {
    if (lastId !== null) {
      void reply.header('Link', `<${nextTarget(request, cursorAfter(lastId, kind))}>; rel="next"`);
    }
    void reply.type(JSON_TYPE);
    return JSON.stringify(entries);
  };
}

/**
 * The request's own query with another cursor, so that filters and page size are kept; on the operation's path, because
 * the target may name a host that is not ours.
 */
function nextTarget(request: FastifyRequest, cursor: string): string {
  // Written anew from what was understood: the same text can be read in more than one way (`?name=a?b`, `%FF`).
  const others = Object.entries(request.query as Record<string, string | string[]>)
    .filter(([name]) => name !== 'cursor')
    .flatMap(([name, values]) => [values].flat().map((value) => `${name}=${encodeURIComponent(value)}`));
  return `${pathOf(request)}?${[...others, `cursor=${cursor}`].join('&')}`;
}

function pathOf(request: FastifyRequest): string {
  const values = request.params as Record<string, string>;
  return (routeOf(request).url ?? '').replace(/:(\w+)/g, (_all, name: string) =>
    encodeURIComponent(values[name] ?? ''),
  );
}

/** The operation answers a Page. @param link what its `Link` means, if it is more than the next page of a list */
export function Paged(link?: string, kind: CursorKind = 'after'): MethodDecorator {
  const example = `<{path}?cursor=${cursorAfter(20, kind)}>; rel="next"`;
  return applyDecorators(
    RepresentedBy(pageWith(kind)),
    documentHeaders('success', { name: 'Link', example, description: link }),
    documentErrors(InvalidCursorError),
  );
}
