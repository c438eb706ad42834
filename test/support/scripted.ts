import { type PetStoreOptions, createPetStoreClient } from '#libs/client';

export const KEY = 'psk_live_secret';

type Reply = Response | Error | ((request: Request) => Response | Promise<Response>);

export interface Sent {
  method: string;
  url: string;
  redirect: string;
  headers: Headers;
  body: string;
}

/** An SDK whose requests go to a list of replies instead of a network; time passes only where it waits. */
export function scriptedSdk(replies: Reply[], options: Partial<PetStoreOptions> = {}) {
  const sent: Sent[] = [];
  const waits: number[] = [];
  let now = 0;
  const sdk = createPetStoreClient({
    baseUrl: 'http://store.test',
    apiKey: KEY,
    now: () => now,
    sleep: (milliseconds) => {
      waits.push(milliseconds);
      now += milliseconds;
      return Promise.resolve();
    },
    ...options,
    fetch: async (request) => {
      const { method, url, headers, redirect } = request;
      sent.push({ method, url, headers, redirect, body: await request.clone().text() });
      const reply = replies[Math.min(sent.length, replies.length) - 1]!;
      if (reply instanceof Error) {
        throw reply;
      }
      return typeof reply === 'function' ? await reply(request) : reply.clone();
    },
  });
  return { sdk, sent, waits, pass: (milliseconds: number) => void (now += milliseconds) };
}

export function json(body: unknown, headers: Record<string, string> = {}, status = 200): Response {
  return new Response(JSON.stringify(body), {
    status,
    headers: { 'Content-Type': 'application/json; charset=utf-8', ...headers },
  });
}

export function failure(status: number, code: string, headers: Record<string, string> = {}): Response {
  return json({ code, message: `It is ${code}.`, status }, headers, status);
}

export const NO_PETS = json([]);
export const LOST = new TypeError('fetch failed');

/** What the promise was rejected with. */
export async function failureOf(promise: PromiseLike<unknown>): Promise<unknown> {
  return promise.then(
    () => {
      throw new Error('It succeeded.');
    },
    (error: unknown) => error,
  );
}
