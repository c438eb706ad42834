import type { FastifyReply, FastifyRequest } from 'fastify';
import helmet from 'helmet';
import { INDEX_PATH } from '../guides/guides-list';
import { htmlOf } from './frame';

/** What the page may load: its own files, and the inline images of Swagger UI's style sheet. */
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
  // The service speaks plain HTTP; the TLS proxy in front of it decides about these.
  strictTransportSecurity: false,
  crossOriginOpenerPolicy: false,
  // Not every response of this origin has the field, and browsers would complain.
  originAgentCluster: false,
});

/** The page for a browser that requests an unknown path below /docs. */
const UNKNOWN_PAGE = htmlOf({
  title: 'Not found – Pet Store',
  body: `<main id="operations">
<h1>There is no such page</h1>
<p>Look for it in <a href="${INDEX_PATH}">the guides</a>, among <a href="/docs">the operations</a>, or search.</p>
</main>`,
});

/** Whether a browser requests a page. Programs and scripts in browsers accept anything or JSON. */
export function wantsPage({ headers }: FastifyRequest): boolean {
  return headers.accept?.includes('text/html') ?? false;
}

/** Answers a browser that requests an unknown page below `/docs`. @returns whether it did */
export function answerUnknownPage(request: FastifyRequest, reply: FastifyReply): boolean {
  if (!request.url.startsWith('/docs/') || !wantsPage(request)) {
    return false;
  }
  setPageHeaders(request.raw, reply.raw, () => undefined);
  void reply.header('Vary', 'Accept').type('text/html; charset=utf-8').send(UNKNOWN_PAGE);
  return true;
}
