import { dirname } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { FastifyInstance } from 'fastify';
import { PAGE_HTML } from './page-html';
import { PAGE_SCRIPT } from './page-script';
import { PAGE_STYLE } from './page-style';

/** What the page uses of Swagger UI's distribution; the rest of it is not served. */
const SWAGGER_UI_FILES = ['/swagger-ui.css', '/swagger-ui-bundle.js', '/favicon-32x32.png'];

/**
 * Serves the page at `/docs`. Called where its routes are already protected. The page that @nestjs/swagger would serve has
 * styles within itself, which a strict policy forbids, and does not fit a phone's screen.
 */
export function servePage(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const serve = (path: string, type: string, text: string) =>
    fastify.get(path, (_request, reply) => reply.type(`${type}; charset=utf-8`).send(text));
  for (const path of ['/docs', '/docs/', '/docs/index.html']) {
    serve(path, 'text/html', PAGE_HTML);
  }
  serve('/docs/page.css', 'text/css', PAGE_STYLE);
  serve('/docs/page.js', 'text/javascript', PAGE_SCRIPT);
  app.useStaticAssets({
    root: dirname(require.resolve('swagger-ui-dist/package.json')),
    prefix: '/docs/',
    decorateReply: false,
    allowedPath: (path) => SWAGGER_UI_FILES.includes(path),
  });
}
