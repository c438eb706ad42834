import type { INestApplication } from '@nestjs/common';
import { DocumentBuilder, type OpenAPIObject, SwaggerModule } from '@nestjs/swagger';
import { completeDocument } from '#libs/openapi';
import { API_KEY_SCHEME, BEARER_SCHEME } from '../auth';
import { SHARED_PARTS } from './shared-parts';

const DESCRIPTION = `Manages animals (pets), the categories they belong to, orders for animals, and stock counts per animal.

**Keys.** Send your API key as \`X-API-Key: <key>\` or \`Authorization: Bearer <key>\`.

**Limits.** Every answer tells where you stand: \`X-RateLimit-Limit\`, \`X-RateLimit-Remaining\` and \`X-RateLimit-Reset\`.
Past a limit the answer is 429: wait for \`Retry-After\` seconds, or your key is banned for a while at the 11th refused request.

| Plan | Requests per minute | Requests per day |
|---|---|---|
| Free | 60 | 1000 |
| Pro | 300 | 10000 |
| Business | 1000 | 100000 |
| Enterprise | custom | custom |

Without a valid key an address has 60 requests per minute.

**Values.** Fields and query parameters that are not described here are refused (400).

**Errors** are \`{code, message, status}\`. Rely on the code; the message is for people.`;

/** Tags in their order. Pets and Store group others and have no operations; `x-parent` is what OpenAPI 3.2 calls `parent`. */
const TAGS: { name: string; description?: string; 'x-parent'?: string }[] = [
  { name: 'Pets' },
  { name: 'Animals', description: 'The animals of the store.', 'x-parent': 'Pets' },
  { name: 'Categories', description: 'What kinds of animals there are.', 'x-parent': 'Pets' },
  { name: 'Store' },
  { name: 'Orders', description: 'Who buys what.', 'x-parent': 'Store' },
  { name: 'Inventory', description: 'How many of each animal there are.', 'x-parent': 'Store' },
  { name: 'Account', description: "The caller's own limits and use." },
];

/** The interface description, as it is served. */
export function buildDocument(app: INestApplication): OpenAPIObject {
  const base = new DocumentBuilder()
    .setOpenAPIVersion('3.0.3')
    .setTitle('Pet Store')
    .setVersion('1.0.0')
    .setDescription(DESCRIPTION)
    .setLicense('MIT', 'https://opensource.org/license/mit')
    .setContact('Pet Store maintainers', 'https://petstore.example/support', 'support@petstore.example')
    .addServer('/', 'The service that serves this document.')
    .addApiKey(
      { type: 'apiKey', in: 'header', name: 'X-API-Key', description: 'Your API key.' },
      API_KEY_SCHEME,
    )
    .addSecurity(BEARER_SCHEME, { type: 'http', scheme: 'bearer', description: 'Your API key.' })
    .build();
  const document = SwaggerModule.createDocument(app, { ...base, tags: TAGS }, { autoTagControllers: false });
  completeDocument(document, SHARED_PARTS);
  const { openapi, info, servers, tags, paths, components } = document;
  return { openapi, info, servers, tags, paths, components };
}
