import type { FastifyReply, FastifyRequest } from 'fastify';
import helmet from 'helmet';
import { INDEX_PATH } from '../guides/guides-list';
import { htmlOf } from './frame';

/** What the page may load: its own files, and the images that Swagger UI's style sheet has in itself. */
const CONTENT_SECURITY_POLICY = {
  useDefaults: false,
  directives: {
    defaultSrc: ["'none'"],
    scriptSrc: ["'self'"],
    styleSrc: ["'self'"],
    imgSrc: ["'self'", 'data:'],
    connectSrc: ["'self'"],
    baseUri: ["'none'"],
    formAction: ["'none'"],
    frameAncestors: ["'none'"],
  },
};

/** Sets the header fields that protect a page. */
export const setPageHeaders = helmet({
  contentSecurityPolicy: CONTENT_SECURITY_POLICY,
  // The service speaks plain HTTP; whoever puts TLS in front of it decides about these.
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  // Not every answer of this origin has it, of which browsers complain.
  originAgentCluster: false,
});

/** What a browser gets for a path below /docs at which there is nothing. */
const UNKNOWN_PAGE = htmlOf({
  title: 'Not found – Pet Store',
  body: `<main id="operations">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a>, among <a href="/docs">the operations</a>, or search.</p>
</main>`,
});

/** Whether a browser asks for a page. A program takes anything or JSON, and browsers' scripts do. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** Answers a browser that asks for a page below `/docs` at which there is nothing. @returns whether it did */
export function answerUnknownPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith('/docs/') || !wantsPage(request)) {
    return false;
  }
  setPageHeaders(request.raw, reply.raw, () => undefined);
  void reply.header('Vary', 'Accept').type('text/html; charset=utf-8').send(UNKNOWN_PAGE);
  return true;
}
