import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { completeDocument } from '#libs/openapi';
import { API_KEY_SCHEME, BEARER_SCHEME } from '../../modules/auth';
import { ADDRESS_LIMITS, PLANS, PLAN_LIMITS, type Plan } from '../../modules/quotas';
import { sharedParts } from './shared-parts';

const DESCRIPTION = `Manages animals (pets), the categories they belong to, orders for animals, and stock counts per animal.

**Guides:** [getting started](/docs/guides/getting-started), [authentication](/docs/guides/authentication), [limits](/docs/guides/limits),
[errors](/docs/guides/errors), [pagination](/docs/guides/pagination), [events](/docs/guides/events), [webhooks](/docs/guides/webhooks),
[safe retries](/docs/guides/idempotency),
[deprecation and versioning](/docs/guides/deprecation), [changelog](/docs/guides/changelog).

**Keys.** Send your API key as \`X-API-Key: <key>\` or \`Authorization: Bearer <key>\`.

**Limits.** Every response has \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`.
Over a limit the response is 429: wait for \`Retry-After\` seconds, and back off exponentially if you are refused again. A client that keeps
sending requests after a 429 has its API key temporarily banned: at the 11th refused request, for 2 minutes at first and longer each time.

| Plan | Requests per minute | Requests per day |
|---|---|---|
${PLANS.map(rowOf).join('\n')}

Without a valid key, each address has ${ADDRESS_LIMITS.perMinute} requests per minute.

**Values.** Fields and query parameters that are not described here are rejected (400).

**Errors** are \`{code, message, status}\`. Rely on the code; the message is for people. Unknown paths return 404 \`route_not_found\`,
unsupported methods 405 \`method_not_allowed\`.

**Retries.** Send an \`Idempotency-Key\` with every POST, and you can safely send it again.

**Changes.** Deprecated operations stay available until their sunset date and carry \`Deprecation\`, \`Sunset\` and \`Link\` headers.
Operations marked \`x-stability: beta\` are meant to stay but may still change; \`experimental\` ones may change or disappear with any release.`;

function rowOf(plan: Plan): string {
  const { perMinute = 'custom', perDay = 'custom' } = PLAN_LIMITS[plan] ?? {};
  return `| ${plan[0]!.toUpperCase()}${plan.slice(1)} | ${perMinute} | ${perDay} |`;
}

/** Tags in their order. Pets and Store group others and have no operations; `x-parent` is what OpenAPI 3.2 calls `parent`. */
const TAGS: { name: string; description?: string; 'x-parent'?: string }[] = [
  { name: 'Pets' },
  { name: 'Animals', description: 'Animals (pets) of the store.', 'x-parent': 'Pets' },
  { name: 'Categories', description: 'The categories that animals belong to.', 'x-parent': 'Pets' },
  { name: 'Store' },
  { name: 'Orders', description: 'Orders for animals.', 'x-parent': 'Store' },
  { name: 'Inventory', description: 'Stock counts per animal.', 'x-parent': 'Store' },
  { name: 'Events', description: 'What happens in the store.' },
  { name: 'Account', description: 'Your API key, limits and usage.' },
];

/** The interface description, as it is served. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(DESCRIPTION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setExternalDoc('Guides for callers', '/docs/guides')
    .addServer('/', 'The service that serves this document: local, staging or production.')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
      API_KEY_SCHEME,
    )
    .addSecurity(BEARER_SCHEME, { type: 'http', scheme: 'bearer', description: 'Your API key.' })
    .build();
  // In the words of the OWASP rules: the interface is meant for customers, not for the operator's own systems alone.
  base.servers = base.servers!.map((server) => ({ ...server, 'x-internal': false }));
  // Who runs an instance decides where its callers find help, so there is no address that would be true of all.
  base.info.contact = { name: 'The operator who issued your API key' };
  const document = SwaggerModule.createDocument(app, { ...base, tags: TAGS }, { autoTagControllers: false });
  completeDocument(document, sharedParts());
  const { openapi, info, externalDocs, servers, tags, paths, components } = document;
  return { openapi, info, externalDocs, servers, tags, paths, components };
}
