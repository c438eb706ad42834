import { within } from './eventually';
import type { DocumentContract } from './document-contract';

export type { ErrorBody } from '#libs/client';

export interface Answer<Body> {
  status: number;
  headers: Headers;
  body: Body;
  text: string;
}

/** The target of the next page, taken from the Link header field (RFC 8288). */
export function nextOf({ headers }: Pick<Answer<unknown>, 'headers'>): string | undefined {
  return /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1];
}

/** The body of a request: a value that is sent as JSON, or a string that is sent as it is. */
type RequestBody = object | string | undefined;

/** The targets of documents, pages and health checks, which are no part of the API. If such a target answers 404 or 405 in JSON, that answer is. */
const OUTSIDE = /^\/((docs|swagger)\b.*|llms\.txt|openapi\.(json|yaml)|health\/(live|ready))?(\?.*)?$/;

/** Sends requests over HTTP, and checks every answer of the API against the OpenAPI document. */
export class ApiCaller {
  constructor(
    readonly baseUrl: string,
    private readonly contract: DocumentContract,
    private readonly headers: Record<string, string> = {},
  ) {}

  with(headers: Record<string, string>): ApiCaller {
    return new ApiCaller(this.baseUrl, this.contract, { ...this.headers, ...headers });
  }

  get<Body = never>(target: string): Promise<Answer<Body>> {
    return this.send('GET', target);
  }

  post<Body = never>(target: string, body?: RequestBody): Promise<Answer<Body>> {
    return this.send('POST', target, body);
  }

  put<Body = never>(target: string, body?: RequestBody): Promise<Answer<Body>> {
    return this.send('PUT', target, body);
  }

  patch<Body = never>(target: string, body?: RequestBody): Promise<Answer<Body>> {
    return this.send('PATCH', target, body);
  }

  delete<Body = never>(target: string): Promise<Answer<Body>> {
    return this.send('DELETE', target);
  }

  async send<Body = never>(method: string, target: string, body?: RequestBody): Promise<Answer<Body>> {
    const type: Record<string, string> = body === undefined ? {} : { 'Content-Type': 'application/json' };
    const sent = fetch(`${this.baseUrl}${target}`, {
      method,
      headers: { ...type, ...this.headers },
      body: typeof body === 'object' ? JSON.stringify(body) : body,
      redirect: 'manual',
    });
    const response = await within(`the answer to ${method} ${target}`, sent);
    const text = await within(`the end of the answer to ${method} ${target}`, response.text());
    const { status, headers } = response;
    const isPage = OUTSIDE.test(target) && !headers.get('content-type')?.includes('json');
    const parsed = (text === '' || isPage ? undefined : JSON.parse(text)) as Body;
    const answer = { status, headers, body: parsed, text };
    const isApi = !OUTSIDE.test(target) || ((status === 404 || status === 405) && !isPage);
    if (isApi) {
      this.contract.check(method, target, answer);
    }
    return answer;
  }
}

/** Reads all pages of a list. @param between runs after each page, before the next one is read */
export async function pagesOf<Entry>(
  caller: ApiCaller,
  target: string,
  between?: (page: number) => Promise<unknown>,
): Promise<Entry[][]> {
  const pages: Entry[][] = [];
  for (let next: string | undefined = target; next !== undefined;) {
    const answer: Answer<Entry[]> = await caller.get<Entry[]>(next);
    pages.push(answer.body);
    await between?.(pages.length);
    next = nextOf(answer);
  }
  return pages;
}
