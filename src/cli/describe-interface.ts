import { NestFactory } from '@nestjs/core';
import { FastifyAdapter } from '@nestjs/platform-fastify';
import { stringify } from 'yaml';
import { AppModule } from '../app.module';
import { readSettings } from '../settings';
import { buildDocument } from '../http/document';

/** YAML 1.1 parsers read it alike; they would take an unquoted text such as 2026-11-24 for a date. */
const YAML_FORM = { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 } as const;

/** The interface description as text, from an application that is assembled but not started. */
export async function describeInterface(format: 'json' | 'yaml'): Promise<string> {
  const settings = readSettings({});
  const root = AppModule.forRoot(settings, 'postgres://nowhere');
  const app = await NestFactory.create(root, new FastifyAdapter(), {
    preview: true,
    logger: false,
    abortOnError: false,
  });
  const document = buildDocument(app, settings);
  return format === 'yaml' ? stringify(document, YAML_FORM) : `${JSON.stringify(document, null, 2)}\n`;
}
