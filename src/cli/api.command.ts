import { Inject } from '@nestjs/common';
import { Command } from 'nest-commander';
import { BaseCommand, type Commander, print } from '#libs/command-line';
import { OperatorError, UsageError, printable, printableJson } from '#libs/messages';
import { RunningService, URL_OPTION, keyInEnvironment, serviceUnreachable } from '../service-access';

type Field = [name: string, text: string];

/**
 * Returns a parser for the value of an option that may be repeated. The parser adds the field in the value to the
 * fields of the earlier values.
 * @param pattern a regular expression whose first group matches the name of a field, and whose second group matches the
 * value
 * @param form describes a valid value in the error
 */
function fieldsAs(pattern: RegExp, form: string) {
  return (given: string, before: Field[] = []): Field[] => {
    const [, name, text] = pattern.exec(given) ?? [];
    if (name === undefined || text === undefined) {
      throw new UsageError(`"${given}" is not ${form}.`);
    }
    return [...before, [name, text]];
  };
}

const fieldIn = fieldsAs(/^([^=]+)=(.*)$/s, 'name=value');
const headerIn = fieldsAs(/^([\w-]+): ?([ -~]*)$/, `a header field such as 'If-Match: "3"'`);

interface ApiOptions {
  field?: Field[];
  header?: Field[];
  url?: string;
  include?: boolean;
  paginate?: boolean;
  json?: boolean;
}

const SUMMARY = 'call the running service with the key in PETSTORE_KEY';
const WITHOUT_BODY = ['GET', 'HEAD', 'DELETE'];
const METHODS = [...WITHOUT_BODY, 'POST', 'PUT', 'PATCH'];

@Command({
  name: 'api',
  description: `${SUMMARY}

Fields are the query of GET, HEAD and DELETE, and the JSON body of other methods. A value that is valid JSON is sent as JSON: \
quantity=2 and name=2 are numbers, and name='"2"' is a text.`,
})
export class ApiCommand extends BaseCommand {
  readonly examples = [
    'api /pets -f status=available -f limit=5',
    'api /pets --paginate',
    'api POST /store/orders -f petId=1 -f quantity=1',
    'api POST /webhooks -f url=https://shop.example/hook -f \'types=["order.placed"]\'',
    'api PATCH /pets/1 -H \'If-Match: "the ETag of a response"\' -f status=sold',
    'api GET /rate-limit --include',
  ];
  readonly takesJson = false;
  @Inject() private readonly service!: RunningService;

  declare(command: Commander): void {
    const field = 'a field of the query or body; repeat the option for more';
    const header = 'a header field; repeat the option for more';
    command
      .summary(SUMMARY)
      // Commander allows no optional argument before a required one, so the optional method cannot come first. If only
      // one argument is given, this argument is the path, and the method is GET.
      .argument('<method-or-path>', 'GET, HEAD, POST, PUT, PATCH, DELETE; or the path, for GET')
      .argument('[path]', 'path of an operation, such as /store/orders/1')
      .option('-f, --field <name=value>', field, fieldIn)
      .option('-H, --header <name:value>', header, headerIn)
      .addOption(command.createOption('-d, --data').hideHelp())
      .on('option:data', () => {
        throw new UsageError(
          '--data is no option: give a body as fields, such as -f name=Rex -f categoryId=1.',
        );
      })
      .option(...URL_OPTION)
      .option('--paginate', 'print all pages of a list, one JSON array after the other')
      .option('-i, --include', 'print status and header fields as well')
      .option('--json', 'print JSON in one line on a terminal too, and failures as JSON');
  }

  protected async execute(first: string, second: string | undefined, options: ApiOptions): Promise<void> {
    const [method, path] = second === undefined ? ['GET', first] : [first.toUpperCase(), second];
    const isMethod = METHODS.includes(path.toUpperCase());
    if (isMethod || /^\w+:\/\//.test(path)) {
      throw new UsageError(`[path] takes a path, such as ${isMethod ? path : method} /pets, not "${path}".`);
    }
    if (!METHODS.includes(method)) {
      throw new UsageError(`<method-or-path> takes ${METHODS.join(', ')}, not "${method}".`);
    }
    const headers = new Headers(options.header);
    // Refuse the header Content-Length. If its value differs from the length of the body, `fetch` fails or never ends.
    if (headers.has('Content-Length')) {
      throw new UsageError('--header: Content-Length is computed from the body and cannot be set.');
    }
    headers.set('X-API-Key', keyInEnvironment(process.env));
    const url = new URL((options.url ?? (await this.service.address())) + path.replace(/^(?!\/)/, '/'));
    const { field: fields = [] } = options;
    let body: string | undefined;
    if (WITHOUT_BODY.includes(method)) {
      fields.forEach(([name, text]) => url.searchParams.append(name, text));
    } else if (fields.length > 0) {
      headers.set('Content-Type', 'application/json');
      body = JSON.stringify(Object.fromEntries(fields.map(([name, text]) => [name, jsonOrText(text)])));
    }
    let page: URL | undefined = url;
    while (page !== undefined) {
      const response: Response = await send(page, { method, headers, body });
      await show(response, options);
      if (!response.ok) {
        throw new OperatorError(`the service answered ${response.status}.`, 'refused');
      }
      page = options.paginate ? nextPage(response, page) : undefined;
    }
  }
}

/** Error codes of Node's `fetch` for headers that only `fetch` itself may set. */
const NOT_SENT = ['UND_ERR_NOT_SUPPORTED', 'UND_ERR_INVALID_ARG'];
const TIMEOUT_MS = 60_000;

async function send(url: URL, request: RequestInit): Promise<Response> {
  try {
    // Do not follow redirects, because a redirect could send the API key to another server.
    return await fetch(url, { ...request, redirect: 'manual', signal: AbortSignal.timeout(TIMEOUT_MS) });
  } catch (error) {
    const { message, code } = ((error as Error).cause ?? error) as NodeJS.ErrnoException;
    if (NOT_SENT.includes(code ?? '')) {
      throw new UsageError(`The request cannot be sent: ${message}.`);
    }
    throw serviceUnreachable(url.origin, error);
  }
}

async function show(response: Response, { include, json }: ApiOptions): Promise<void> {
  if (include) {
    print(`HTTP ${response.status}`);
    response.headers.forEach((value, name) => print(`${name}: ${printable(value)}`));
    print('');
  }
  const text = await response.text();
  const value = jsonOrText(text);
  if (text !== '') {
    print(value === text ? printable(text) : printableJson(value, process.stdout.isTTY && !json ? 2 : 0));
  }
}

function jsonOrText(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/**
 * Returns the URL of the next page. Returns undefined if that URL is on another server, because another server must not
 * receive the API key.
 */
function nextPage({ headers }: Response, url: URL): URL | undefined {
  const [, target] = /<([^<>]*)>; rel="next"/.exec(headers.get('Link') ?? '') ?? [];
  const next = target === undefined ? undefined : new URL(target, url);
  return next?.origin === url.origin && next.href !== url.href ? next : undefined;
}
