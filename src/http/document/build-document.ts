import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, type OperationObject, SwaggerModule } from '@nestjs/swagger';
import { definedTags } from '#libs/http';
import { API_KEY_SCHEME, BEARER_SCHEME } from '../../modules/auth';
import { PLAN_LIMITS } from '../../modules/quotas';
import { API_VERSION } from '../../program';
import { completeDocument } from './complete-document';
import { type GuideName, INDEX_PATH, guidePath } from './guides';
import { ADDRESS_PLACEHOLDER } from './served-content';

/**
 * Returns the description of the API in Markdown. Links to guides are absolute, so that the links also work in a copy
 * of the OpenAPI document.
 */
function description(): string {
  const to = (name: GuideName) => ADDRESS_PLACEHOLDER + guidePath(name);
  const plans = Object.entries(PLAN_LIMITS).map(([plan, limits]) => {
    const counts = [limits?.perMinute, limits?.perDay].map(
      (count) => count?.toLocaleString('en-US') ?? 'set per client',
    );
    return `| ${[plan, ...counts].join(' | ')} |`;
  });
  return `Pets, the categories they belong to, orders and stock. [Getting started](${to('getting-started')}) takes five minutes.
Send your API key as \`X-API-Key\` or \`Authorization: Bearer\`. [Limits](${to('limits')}), [errors](${to('errors')}) and
[safe retries](${to('idempotency')}) work alike for every operation. Unknown paths return 404 \`route_not_found\`,
unsupported methods 405 \`method_not_allowed\`. HEAD works wherever GET does.

| Plan | Requests per minute | Requests per day (UTC) |
| --- | --- | --- |
${plans.join('\n')}

All keys of a client share its limits. Without a valid key, each IP address has 60 requests a minute. Requests that get 429 do not count; those that get 304 or 5xx are
refunded, in each window at most as many as its limit. A key that keeps sending requests after a 429 is [banned](${to('limits')}#bans), at first for two minutes.

**Stability.** Operations without \`x-stability\` do not break without a [deprecation](${to('deprecation')}). \`beta\`: meant to
stay; breaking changes are announced 30 days ahead. \`experimental\`: may change or disappear with any release.

**Timestamps** are stored in UTC and cut to milliseconds. The timestamps of events have microseconds.`;
}

/**
 * Returns the part of the document with the tags, and the part with the groups of tags. Each tag names its parent in
 * `x-parent`. Tools that do not know `x-parent` can show the groups.
 */
function tagParts(): object {
  const sorted = definedTags();
  const names = new Set(sorted.map(({ parent, group = parent }) => group));
  const groups = [...names].map((name) => ({
    name,
    members: sorted.filter(({ parent, group = parent }) => group === name),
  }));
  const tags = groups.flatMap(({ name, members }) => [
    ...(members[0]?.parent === name ? [{ name }] : []),
    ...members.map((tag) => ({ name: tag.name, description: tag.description, 'x-parent': tag.parent })),
  ]);
  const named = groups.map(({ name, members }) => ({ name, tags: members.map((tag) => tag.name) }));
  return { tags, 'x-tagGroups': named };
}

export function buildDocument(app: INestApplication): OpenAPIObject {
  const guide = ADDRESS_PLACEHOLDER + guidePath('getting-started');
  const keyDescription = `Your API key from the operator ([Getting started](${guide})). This or \`${BEARER_SCHEME}\` is enough.`;
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Pet Store')
    .setVersion(API_VERSION)
    .setDescription(description())
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc('Guides for callers', ADDRESS_PLACEHOLDER + INDEX_PATH)
    .addServer(ADDRESS_PLACEHOLDER, 'The service that serves this document: local, staging or production.')
    .addSecurityRequirements(API_KEY_SCHEME)
    .addSecurityRequirements(BEARER_SCHEME)
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: keyDescription },
      API_KEY_SCHEME,
    )
    .addSecurity(BEARER_SCHEME, {
      type: 'http',
      scheme: 'bearer',
      description: `The same key as a bearer token. This or \`${API_KEY_SCHEME}\` is enough.`,
    })
    .build();
  // Mark every server as public with `x-internal: false`, because the OWASP rules for OpenAPI documents require this
  // field.
  base.servers = base.servers!.map((server) => ({ ...server, 'x-internal': false }));
  base.info.contact = {
    name: 'The operator who issued your API key',
    url: `${guide}#help`,
  };
  const document = SwaggerModule.createDocument(app, base, { autoTagControllers: false });
  completeDocument(document);
  const { openapi, info, externalDocs, servers, security, paths, components } = document;
  return { openapi, info, externalDocs, servers, security, ...tagParts(), paths: inOrder(paths), components };
}

function inOrder(paths: OpenAPIObject['paths']): OpenAPIObject['paths'] {
  const names = definedTags().map(({ name }) => name);
  const placeOf = (item: object): number => {
    const [{ tags }] = Object.values(item) as [OperationObject];
    return names.indexOf(tags![0]!);
  };
  const sorted = Object.entries(paths).sort(([, one], [, other]) => placeOf(one) - placeOf(other));
  return Object.fromEntries(sorted);
}

export async function documentText(document: OpenAPIObject, format: 'json' | 'yaml'): Promise<string> {
  if (format === 'json') {
    return `${JSON.stringify(document, null, 2)}\n`;
  }
  const { stringify } = await import('yaml');
  // `compat` quotes texts such as 2026-11-24, which YAML 1.1 parsers would otherwise read as dates.
  return stringify(document, { aliasDuplicateObjects: false, compat: 'yaml-1.1', lineWidth: 120 });
}
