import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { API_KEY_SCHEME, BEARER_SCHEME } from '../../modules/auth';
import { PLAN_LIMITS } from '../../modules/quotas';
import { definedTags } from '#libs/http';
import { completeDocument } from './complete-document';
import { type GuideName, INDEX_PATH, guidePath } from './guides';
import { SHOWN_ADDRESS } from './shared-content';

/** The links have the address of the service, because they have to work wherever the OpenAPI document is read. */
function description(): string {
  const to = (name: GuideName) => SHOWN_ADDRESS + guidePath(name);
  const plans = Object.entries(PLAN_LIMITS).map(([plan, limits]) => {
    const cells = [plan, limits?.perMinute ?? 'set per client', limits?.perDay ?? 'set per client'];
    return `| ${cells.join(' | ')} |`;
  });
  return `Pets, the categories they belong to, orders and stock. [Getting started](${to('getting-started')}) takes five minutes.
Send your API key as \`X-API-Key\` or \`Authorization: Bearer\`. [Limits](${to('limits')}), [errors](${to('errors')}) and
[safe retries](${to('idempotency')}) work alike for every operation. Unknown paths return 404 \`route_not_found\`,
unsupported methods 405 \`method_not_allowed\`. HEAD works wherever GET does.

| Plan | Requests per minute | Requests per day (UTC) |
| --- | --- | --- |
${plans.join('\n')}

All keys of a client share its limits. Without a valid key, each address has 60 requests a minute. 429 does not count; 304 and 5xx are
refunded, as many in a window as its limit. Who keeps sending after a 429 has the key [banned](${to('limits')}#bans), for two minutes at first.

**Stability.** Operations without \`x-stability\` do not break without a [deprecation](${to('deprecation')}). \`beta\`: meant to
stay; breaking changes are announced 30 days ahead. \`experimental\`: may change or disappear with any release.

**Timestamps** are stored in UTC and cut to milliseconds; those of events have microseconds.`;
}

/** Where callers find help. */
const CONTACT_GUIDE = `${guidePath('getting-started')}#help`;

/** The groups of tags in the order in which they are shown. One that is no parent must not have the name of a tag either. */
const GROUPS = ['Pets', 'Store', 'Notifications', 'Access'];

/** `x-parent` is called `parent` in OpenAPI 3.2; the groups say the same to tools that do not support nested tags. */
function tagParts(): object {
  const groups = GROUPS.map((name) => ({
    name,
    members: definedTags().filter(({ parent, group = parent }) => group === name),
  }));
  const tags = groups.flatMap(({ name, members }) => [
    ...(members[0]?.parent === name ? [{ name }] : []),
    ...members.map((tag) => ({ name: tag.name, description: tag.description, 'x-parent': tag.parent })),
  ]);
  const named = groups.map(({ name, members }) => ({ name, tags: members.map((tag) => tag.name) }));
  return { tags, 'x-tagGroups': named };
}

/** YAML 1.1 parsers read it alike; they would take an unquoted text such as 2026-11-24 for a date. */
const YAML_FORM = { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 } as const;

/** The OpenAPI document, as it is served. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(description())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc('Guides for callers', SHOWN_ADDRESS + INDEX_PATH)
    .addServer(SHOWN_ADDRESS, 'The service that serves this document: local, staging or production.')
    .addSecurityRequirements(API_KEY_SCHEME)
    .addSecurityRequirements(BEARER_SCHEME)
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
      API_KEY_SCHEME,
    )
    .addSecurity(BEARER_SCHEME, { type: 'http', scheme: 'bearer', description: 'Your API key.' })
    .build();
  // A term of the OWASP rules: the API is public, not only for the operator's own systems.
  base.servers = base.servers!.map((server) => ({ ...server, 'x-internal': false }));
  base.info.contact = {
    name: 'The operator who issued your API key',
    url: SHOWN_ADDRESS + CONTACT_GUIDE,
  };
  const document = SwaggerModule.createDocument(app, base, { autoTagControllers: false });
  completeDocument(document);
  const { openapi, info, externalDocs, servers, security, paths, components } = document;
  return { openapi, info, externalDocs, servers, security, ...tagParts(), paths, components };
}

/** The OpenAPI document as text for people: indented. */
export async function documentText(document: OpenAPIObject, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') {
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const { stringify } = await import('yaml');
  return stringify(document, YAML_FORM);
}
