import { Command } from 'nest-commander';
import { PETSTORE, printable, printableJson } from '../../runtime/messages';
import { readSettings } from '../../settings';
import { PetstoreCommand } from '../command/command';
import { CommandFailure, UsageError } from '../command/failure';
import { Flag, Value } from '../command/option';
import { print } from '../output/output';

/** Where the service of this machine listens, from its settings. */
function localService(): string {
  const { host, port } = readSettings(process.env);
  const reachable = host === '0.0.0.0' ? '127.0.0.1' : host === '::' ? '::1' : host;
  return `http://${reachable.includes(':') ? `[${reachable}]` : reachable}:${port}`;
}

export function serviceUrl(text: string, name: string): string {
  if (!/^https?:\/\//.test(text) || !URL.canParse(text)) {
    throw new UsageError(`${name} takes the address of a service, such as https://petstore.example.`);
  }
  return text.replace(/\/$/, '');
}

export interface ServiceRequest {
  method: string;
  /** With its query. */
  path: string;
  body?: unknown;
  headers?: Record<string, string>;
  /** By default the service of this machine. */
  url?: string;
}

/**
 * Sends a request to the running service, with the key in PETSTORE_KEY.
 * @throws CommandFailure if there is no key, or no service answers
 */
export async function callService({ method, path, body, headers, url = localService() }: ServiceRequest) {
  const key = process.env.PETSTORE_KEY;
  if (!key) {
    throw new UsageError(`PETSTORE_KEY is not set. It takes an API key: ${PETSTORE} keys issue <client>`);
  }
  try {
    return await fetch(`${url}${path}`, {
      method,
      headers: {
        ...headers,
        'X-API-Key': key,
        ...(body === undefined ? {} : { 'Content-Type': 'application/json' }),
      },
      body: body === undefined ? undefined : JSON.stringify(body),
    });
  } catch (error) {
    const { message } = ((error as Error).cause as Error | undefined) ?? (error as Error);
    throw new CommandFailure(
      `No service answers at ${url} (${message}). Start it with ${PETSTORE} serve, or name another with --url.`,
      { code: 'no_service' },
    );
  }
}

type Field = [name: string, text: string];

function field(text: string, name: string, before: Field[] = []): Field[] {
  const [, key, value] = /^([^=]+)=(.*)$/s.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new UsageError(`${name} takes name=value, not "${text}".`);
  }
  return [...before, [key, value]];
}

function headerField(text: string, name: string, before: Field[] = []): Field[] {
  const [, key, value] = /^([\w-]+): ?([ -~]*)$/.exec(text) ?? [];
  if (key === undefined || value === undefined) {
    throw new UsageError(`${name} takes a header field such as 'If-Match: "3"', not "${text}".`);
  }
  return [...before, [key, value]];
}

/** Numbers, true, false, null, arrays, objects and quoted texts as in JSON; anything else is a text. */
function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE'];
const METHODS = [...WITHOUT_BODY, 'POST', 'PUT', 'PATCH'];

@Command({
  name: 'api',
  arguments: '<method> <path>',
  argsDescription: {
    method: 'GET, HEAD, POST, PUT, PATCH or DELETE',
    path: 'path of an operation, such as /pets/1',
  },
  description: 'call the running service with the key in PETSTORE_KEY',
})
export class ApiCommand extends PetstoreCommand {
  protected override readonly examples = [
    'api GET /pets -f status=available -f limit=5',
    'api POST /store/orders -f petId=1 -f quantity=1',
    'api POST /webhooks -f url=https://shop.example/hook -f \'types=["order.placed"]\'',
    'api PATCH /pets/1 -H \'If-Match: "the ETag of a response"\' -f status=sold',
    'api GET /rate-limit --include',
  ];
  protected override readonly explanation = `
Fields are the query of GET, HEAD and DELETE, and the JSON body of other methods. A value that is JSON is sent as such:
quantity=2 is a number, name=2 too, and name='"2"' is a text.
`;

  @Value('-f, --field <name=value>', 'a field of the query or body; several: repeat it', field)
  field?: Field[];
  @Value('-H, --header <name:value>', 'a header field; several: repeat it', headerField) header?: Field[];
  @Value('--url <url>', 'address of the service (default: from HOST and PORT)', serviceUrl) url?: string;
  @Flag('-i, --include', 'print status and header fields as well') include?: boolean;
  @Flag('--json', 'on a terminal too, JSON in one line, and failures as JSON') json?: boolean;

  async run([method = '', path = '']: string[]): Promise<void> {
    const response = await callService({
      ...this.request(method.toUpperCase(), path),
      headers: Object.fromEntries(this.header ?? []),
      url: this.url,
    });
    const text = await response.text();
    if (this.include) {
      print(`HTTP ${response.status}`);
      response.headers.forEach((value, name) => print(`${name}: ${printable(value)}`));
      print('');
    }
    if (text !== '') {
      print(this.forPeopleOrPrograms(text));
    }
    if (!response.ok) {
      throw new CommandFailure(`the service answered ${response.status}.`, { code: 'refused' });
    }
  }

  private request(method: string, path: string): ServiceRequest {
    if (!path.startsWith('/')) {
      throw new UsageError(`<path> takes a path that begins with /, not "${path}".`);
    }
    if (!METHODS.includes(method)) {
      throw new UsageError(`<method> takes ${METHODS.join(', ')}, not "${method}".`);
    }
    const fields = this.field ?? [];
    if (!WITHOUT_BODY.includes(method)) {
      const body = Object.fromEntries(fields.map(([name, text]) => [name, jsonOrText(text)]));
      return { method, path, body: fields.length === 0 ? undefined : body };
    }
    const query = new URLSearchParams(fields).toString();
    return { method, path: query === '' ? path : `${path}${path.includes('?') ? '&' : '?'}${query}` };
  }

  private forPeopleOrPrograms(text: string): string {
    return process.stdout.isTTY && !this.json ? printableJson(jsonOrText(text), 2) : text;
  }
}
