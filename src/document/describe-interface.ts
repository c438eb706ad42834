import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { stringify } from 'yaml';
import { AppModule } from '../app.module';
import { readSettings } from '../settings';
import { buildDocument } from './build-document';

/** The interface description as text, from an application that is wired together but not brought to life. */
export async function describeInterface(format: 'json' | 'yaml'): Promise<string> {
  const root = AppModule.forRoot(readSettings({}), 'postgres://nowhere');
  const app = await NestFactory.create(root, new FastifyAdapter(), { preview: true, logger: false });
  const document = buildDocument(app);
  return format === 'yaml' ? stringify(document) : `${JSON.stringify(document, null, 2)}\n`;
}
