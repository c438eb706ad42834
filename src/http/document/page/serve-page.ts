import { readFileSync } from 'node:fs';
import type { FastifyInstance } from 'fastify';
import { sendStatic, staticAnswer } from '../static-answer';
import { PAGE_HTML } from './page-html';
import { PAGE_SCRIPT } from './page-script';
import { PAGE_STYLE } from './page-style';

const HTML = 'text/html; charset=utf-8';
const CSS = 'text/css; charset=utf-8';
const SCRIPT = 'text/javascript; charset=utf-8';

/** What the page uses of Swagger UI's distribution; the rest of it is not served. */
const SWAGGER_UI_FILES = {
  'swagger-ui.css': CSS,
  'swagger-ui-bundle.js': SCRIPT,
  'favicon-32x32.png': 'image/png',
};

/**
 * Serves the page at `/docs`. Call it after `protectPage`. The page of @nestjs/swagger has inline styles, which a strict
 * content security policy forbids, and does not fit a phone's screen.
 */
export function servePage(fastify: FastifyInstance): void {
  const serve = (path: string, type: string, body: string | Buffer) => {
    const answer = staticAnswer(type, body);
    fastify.get(path, (request, reply) => sendStatic(answer, request, reply));
  };
  for (const path of ['/docs', '/docs/', '/docs/index.html']) {
    serve(path, HTML, PAGE_HTML);
  }
  serve('/docs/page.css', CSS, PAGE_STYLE);
  serve('/docs/page.js', SCRIPT, PAGE_SCRIPT);
  for (const [name, type] of Object.entries(SWAGGER_UI_FILES)) {
    serve(`/docs/${name}`, type, readFileSync(require.resolve(`swagger-ui-dist/${name}`)));
  }
}
