import { dirname, join } from 'node:path';
import type { NestFastifyApplication } from '@nestjs/platform-fastify';
import type { OpenAPIObject, SwaggerCustomOptions } from '@nestjs/swagger';
import type { FastifyInstance } from 'fastify';
import { applyReadConditions } from '#libs/http';
import { buildDocument, documentText } from './build-document';
import { GUIDES, type Guide, INDEX_PATH, guidePath, markdownPath, readGuides } from './guides';
import {
  GUIDE_HEADERS,
  LIBRARY_HEADERS,
  guidePage,
  withSiteHeader,
  llmsText,
  referencePage,
  wantsPage,
} from './pages';
import { PUBLIC_ROUTE, type PageFile, readPageFile, rootFrom, serveFile, serveText } from './served-content';
import { referenceDocument } from './reference-document';

export function serveDocument(app: NestFastifyApplication): void {
  const fastify = app.getHttpAdapter().getInstance() as unknown as FastifyInstance;
  const document = buildDocument(app);
  serveRoot(fastify, document);
  // Serialize the document once and not for each request, which would keep the process busy.
  const json = JSON.stringify(document);
  let reading: Promise<Guide[]> | undefined;
  const guides = () => (reading ??= readGuides(document));
  const theme = serveOwnFile(fastify, 'theme.js');
  serveText(fastify, '/openapi.json', () => json);
  const shown = async () => JSON.stringify(referenceDocument(document, await guides()));
  serveText(fastify, '/docs/openapi.json', shown);
  serveText(fastify, '/openapi.yaml', () => documentText(document, 'yaml'));
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => {
      void reply.headers(GUIDE_HEADERS);
    });
    serveGuides(pages, guides, theme);
  });
  void fastify.register(async (pages) => {
    pages.addHook('onRequest', async (_request, reply) => {
      void reply.headers(LIBRARY_HEADERS);
    });
    serveReference(pages, document, guides, theme);
    serveSwaggerUi(pages, theme);
  });
}

/** Answers `/`: redirects browsers to the reference, and tells programs where the OpenAPI document is (RFC 8631). */
function serveRoot(fastify: FastifyInstance, { info }: OpenAPIObject): void {
  fastify.get('/', PUBLIC_ROUTE, (request, reply) => {
    const at = (path: string) => request.prefix + path;
    const places = { openapi: at('/openapi.json'), docs: at('/docs'), guides: at(INDEX_PATH) };
    const link = `<${places.openapi}>; rel="service-desc", <${places.docs}>; rel="service-doc"`;
    const headers = { Vary: 'Origin, Accept', Link: link };
    if (wantsPage(request)) {
      return reply.headers(headers).redirect(places.docs);
    }
    const isNotModified = applyReadConditions(request, reply, null);
    const body = isNotModified ? undefined : { name: info.title, version: info.version, ...places };
    return reply.headers(headers).send(body);
  });
}

function serveOwnFile(pages: FastifyInstance, name: string): PageFile {
  return serveFile(pages, `/docs/${name}`, () => readPageFile(name));
}

function serveGuides(pages: FastifyInstance, guides: () => Promise<Guide[]>, theme: PageFile): void {
  const files = [theme, ...['site.css', 'guide.css', 'copying.js'].map((name) => serveOwnFile(pages, name))];
  for (const [index, name] of GUIDES.entries()) {
    const write = async () => {
      const all = await guides();
      return guidePage(all[index]!, all);
    };
    serveText(pages, guidePath(name), write, files);
    serveText(pages, markdownPath(name), async () => (await guides())[index]!.text);
  }
  serveText(pages, '/llms.txt', async () => llmsText(await guides()));
  for (const path of ['/docs', INDEX_PATH, '/swagger']) {
    pages.get(`${path}/`, PUBLIC_ROUTE, (_request, reply) =>
      reply.redirect(rootFrom(`${path}/`) + path.slice(1), 301),
    );
  }
}

const readStyles = async (...names: string[]): Promise<string[]> => {
  const files = await Promise.all(names.map(readPageFile));
  return files.map(({ parts }) => String(parts[0]));
};

function serveReference(
  pages: FastifyInstance,
  document: OpenAPIObject,
  guides: () => Promise<Guide[]>,
  theme: PageFile,
): void {
  const files = [serveOwnFile(pages, 'scalar.js'), serveOwnFile(pages, 'reference.js')];
  const write = async () => {
    const styles = await readStyles('site.css', 'reference.css');
    return referencePage(document, await guides(), styles);
  };
  serveText(pages, '/docs', write, [...files, theme]);
}

const SWAGGER_UI_FILES =
  'swagger-ui.css swagger-ui-bundle.js swagger-plugins.js favicon-16x16.png favicon-32x32.png';

/**
 * Functions of @nestjs/swagger that the package does not export. The service calls these functions, because the
 * function that the package does export would read files from the disk for each request.
 */
interface SwaggerUi {
  buildSwaggerHTML(folder: string, options: SwaggerCustomOptions): string;
  buildSwaggerInitJS(document: undefined, options: SwaggerCustomOptions): string;
}

/** Serves Swagger UI. The page loads the OpenAPI document from `swaggerUrl` instead of containing a copy. */
function serveSwaggerUi(pages: FastifyInstance, theme: PageFile): void {
  const ui = require(join(dirname(require.resolve('@nestjs/swagger')), 'swagger-ui')) as SwaggerUi;
  const options: SwaggerCustomOptions = {
    customSiteTitle: 'Swagger UI · Pet Store',
    swaggerUrl: 'docs/openapi.json',
    swaggerOptions: {
      persistAuthorization: true,
      // By default, Swagger UI sends the address of the document to a validator on another server.
      validatorUrl: null,
      // `BaseLayout` leaves out Swagger UI's top bar, which has a second switch between light and dark.
      layout: 'BaseLayout',
      syntaxHighlight: { theme: 'obsidian' },
      // Show the fields of an opened schema with their types, also if the schema is a list.
      defaultModelExpandDepth: 3,
      defaultModelsExpandDepth: 3,
      // For a function, @nestjs/swagger writes the result of `toString` into the page. This result is the name of the
      // list in `swagger-plugins.js`.
      plugins: Object.assign(() => undefined, { toString: () => 'swaggerUiPlugins' }),
    },
  };
  const script = serveFile(pages, '/swagger/swagger-ui-init.js', async () => ({
    parts: [Buffer.from(ui.buildSwaggerInitJS(undefined, options))],
  }));
  const files = SWAGGER_UI_FILES.split(' ').map((name) =>
    serveFile(pages, `/swagger/${name}`, () => readPageFile(name)),
  );
  const write = async () =>
    withSiteHeader(ui.buildSwaggerHTML('./swagger/', options), await readStyles('site.css', 'swagger.css'));
  serveText(pages, '/swagger', write, [theme, script, ...files]);
}
