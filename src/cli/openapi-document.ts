import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { AppModule } from '../app.module';
import { readSettings } from '../all-settings';
import { buildDocument, documentText } from '../http/document/build-document';

/** Returns the OpenAPI document as text. The application is created but not started, so no database is needed. */
export async function openapiDocument(format: 'json' | 'yaml'): Promise<string> {
  const settings = readSettings({});
  const root = AppModule.forService(settings, 'postgres://nowhere');
  const app = await NestFactory.create(root, new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  return documentText(buildDocument(app), format);
}
