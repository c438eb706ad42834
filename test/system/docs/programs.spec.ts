// Runs the programs that the guides show, as they are written there.
import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '../../support/eventually';
import { listen } from '../../support/ports';
import { fileIn, readGuide } from '../../support/guides';
import { findProgram } from '../../support/programs';
import { SpawnedProcess } from '../../support/spawned-process';
import { useStore } from '../../support/use-service';
import { useFolder } from '../../support/files';

const { service, arrange, caller } = useStore();
const folder = useFolder();
const running: SpawnedProcess[] = [];

beforeAll(() => {
  for (const name of ['follow.mjs', 'verify.mjs', 'verify.py', 'verify.go', 'receive.mjs']) {
    writeFileSync(join(folder, name), fileIn('events', name));
  }
  ['send.mjs', 'send.py'].forEach((name) => writeFileSync(join(folder, name), fileIn('idempotency', name)));
  Object.entries(CHECKS).forEach(([name, text]) => writeFileSync(join(folder, name), text));
});
afterEach(() => Promise.all(running.splice(0).map((program) => program.end('SIGKILL'))));

/** Starts a program of a guide, which is ended after the test. */
function start(args: string[], env: NodeJS.ProcessEnv): SpawnedProcess {
  const options = { cwd: folder, env: { PATH: process.env.PATH, ...env } };
  const program = new SpawnedProcess([process.execPath, ...args], options);
  running.push(program);
  return program;
}

/** A script after which a program skips and prints pauses of these lengths. Other timers, such as those of `fetch`, work as usual. */
const skipping = (...pausesMs: number[]) => `const later = setTimeout;
  globalThis.setTimeout = (work, ms, ...rest) =>
    [${pausesMs.join()}].includes(ms) ? console.log('pause', ms / 1_000) || later(work, 0) : later(work, ms, ...rest);`;

describe('Following the feed', () => {
  it('prints every event, one after another, and waits for the next', async () => {
    const { key } = await service.issueKey({ plan: 'free' });
    const follower = start(['follow.mjs'], { BASE: service.url, KEY: key });
    // The program does not print when it has read the end of the feed, so the test creates pets until it prints one.
    await until(async () => {
      await arrange.pet();
      return follower.lines.some((line) => line.startsWith('pet.created'));
    });
    for (let round = 0; round < 3; round += 1) {
      const pet = await arrange.pet();
      await until(() => follower.lines.includes(`pet.created ${JSON.stringify(pet)}`));
    }
  });

  /** Skips the pauses of the program, and stops its time, so that every answer seems to come at once. */
  const HURRIED = `${skipping(1_000, 5_000, 7_000, 120_000)} performance.now = () => 0;`;

  it('pauses as answers demand, goes on after lost events, and ends at an error that a retry cannot change', async () => {
    const next = { Link: '</shop/events?cursor=b>; rel="next"' };
    const answers: [status: number, headers: Record<string, string>, body?: unknown][] = [
      [200, { Link: '</shop/events?cursor=a>; rel="next"' }, []],
      [200, { Link: '</shop/events?cursor=a>; rel="next"' }, []],
      [503, { 'Retry-After': 'Thu, 26 Nov 2026 18:00:00 GMT' }],
      [429, { 'Retry-After': '7' }],
      [403, { 'Retry-After': '120' }],
      [502, {}],
      [200, { Link: '</shop/events?wait=25&cursor=b>; rel="next"' }, [{ type: 'pet.created', data: {} }]],
      [410, next, { code: 'events_lost' }],
      [400, {}, { code: 'validation_failed' }],
    ];
    const asked: string[] = [];
    const server = createServer((request, response) => {
      const [status, headers, body = {}] = answers[asked.push(request.url!) - 1]!;
      response.writeHead(status, headers).end(JSON.stringify(body));
    });
    const BASE = `http://127.0.0.1:${await listen(server)}/shop`;
    const script = `data:text/javascript,${encodeURIComponent(HURRIED)}`;
    const follower = start(['--import', script, 'follow.mjs'], { BASE, KEY: 'psk' });
    await follower.ended;
    server.close();
    const waiting = (cursor: string) => `/shop/events?cursor=${cursor}&wait=25`;
    expect(asked).toEqual([
      '/shop/events?cursor=now',
      ...Array<string>(6).fill(waiting('a')),
      '/shop/events?wait=25&cursor=b',
      waiting('b'),
    ]);
    const pauses = [1, 1, 5, 7, 120, 5].map((seconds) => `pause ${seconds}`);
    expect(follower.lines).toEqual([...pauses, 'pet.created {}', 'pause 1']);
    expect(follower.stderr).toMatch(/^Events are lost: compare what you have stored\.\n.*validation_failed/s);
  });
});

it.each([
  ['node', ['-e', `${skipping(7_000, 2_000, 120_000)} Math.random = () => 0; import('./send.mjs');`]],
  [
    'python3',
    [
      '-c',
      `import random, time
random.random = lambda: 0
time.sleep = lambda seconds: print('pause', seconds)
exec(open('send.py').read())`,
    ],
  ],
] as const)(
  'The program that retries sends a POST again with its key, after the pause that is asked for or longer and longer ones: %s',
  async (program, args) => {
    const answers: [status: number, headers: Record<string, string>][] = [
      [429, { 'Retry-After': '7' }],
      [503, {}],
      [502, { 'Retry-After': '120' }],
      [201, {}],
    ];
    const keys = new Set<string | undefined>();
    const server = createServer((request, response) => {
      keys.add(String(request.headers['idempotency-key']));
      const [status, headers] = answers.shift()!;
      response.writeHead(status, headers).end('{"name": "Herons"}');
    });
    const env = { PATH: process.env.PATH, BASE: `http://127.0.0.1:${await listen(server)}`, KEY: 'psk' };
    const { stdout } = await promisify(execFile)(program, args, { cwd: folder, env });
    server.close();
    expect([stdout.split('\n'), answers.length, keys.size]).toEqual([
      ['pause 7', 'pause 2', 'pause 120', 'Herons', ''],
      0,
      1,
    ]);
  },
);

/** Programs that call the function of a guide with headers, a body, a secret and a time. They print the type of the event, or the error. */
const CHECKS = {
  'check.mjs': `import { verify } from './verify.mjs';
    for (const [headers, body, secret, now] of JSON.parse(process.argv[2]))
      try { console.log(verify(headers, Buffer.from(body), secret, now).type); } catch ({ message }) { console.log(message); }`,
  'check.py': `import json, sys
from verify import verify
for headers, body, secret, now in json.loads(sys.argv[1]):
  try: print(verify(headers, body.encode(), secret, now)["type"])
  except ValueError as error: print(error)`,
  'check.go': `package main
    import ("encoding/json"; "fmt"; "net/http"; "os"; "time")
    func main() {
      var all [][]json.RawMessage
      json.Unmarshal([]byte(os.Args[1]), &all)
      for _, given := range all {
        var headers map[string]string
        var body, secret string
        var now int64
        for index, into := range []any{&headers, &body, &secret, &now} { json.Unmarshal(given[index], into) }
        header := http.Header{}
        for name, value := range headers { header.Set(name, value) }
        if problem := Verify(header, []byte(body), secret, time.Unix(now, 0)); problem != nil { fmt.Println(problem); continue }
        var event struct{ Type string }
        json.Unmarshal([]byte(body), &event)
        fmt.Println(event.Type)
      }
    }`,
};

const LANGUAGES = [
  { language: 'JavaScript', command: ['node', 'check.mjs'] },
  { language: 'Python', command: ['python3', 'check.py'] },
  { language: 'Go', command: ['go', 'run', 'verify.go', 'check.go'] },
].filter(({ command: [program] }) => findProgram({ names: [program!] }));

it.each(LANGUAGES)(
  'Verifying in $language accepts the example, also with two signatures, and says what is wrong with anything else',
  async ({ command: [program, ...args] }) => {
    const guide = readGuide('events');
    const fields = [...guide.matchAll(/^(webhook-\w+): (.+)$/gm)].map(([, name, value]) => [name, value]);
    const headers = Object.fromEntries(fields) as Record<string, string>;
    const two = { ...headers, 'webhook-signature': `v1,AAAA ${headers['webhook-signature']}` };
    const [secret] = /whsec_\w+==/.exec(guide)!;
    const body = fileIn('events', 'body.json');
    const now = Number(headers['webhook-timestamp']);
    const expected = [
      [[headers, body, secret, now], /^order\.placed$/],
      [[two, body, secret, now + 299], /^order\.placed$/],
      [[headers, `${body} `, secret, now], /no signature matches/i],
      [[headers, body, 'whsec_AAAA', now], /no signature matches/i],
      [[headers, body, secret, now + 301], /five minutes/],
      ...['', 'abc', '-1', '1_795_253_400', '１７９５２５３４００', '9'.repeat(5_000)].map((time) => [
        [{ ...headers, 'webhook-timestamp': time }, body, secret, now],
        /five minutes/,
      ]),
      [[{}, body, secret, now], /five minutes/],
      ...['', ' ', 'v1,é', 'v1,\ud800', 'v1', '🐕'].flatMap((text) =>
        ['webhook-signature', 'webhook-id'].map((name) => [
          [{ ...headers, [name]: text }, body, secret, now],
          /no signature matches/i,
        ]),
      ),
      ...['psk_live_1', '', '"whsec_AAAA"', 'whsec_é', 'whsec_%%%%'].map((none) => [
        [headers, body, none, now],
        /secret .*whsec_/,
      ]),
    ] as const;
    const { PATH, HOME } = process.env;
    const options = { cwd: folder, env: { PATH, HOME } };
    const given = JSON.stringify(expected.map(([values]) => values));
    const { stdout } = await promisify(execFile)(program!, [...args, given], options);
    expect(stdout.trimEnd().split('\n')).toEqual(
      expected.map(([, line]) => expect.stringMatching(line as RegExp) as string),
    );
  },
);

it('The receiver accepts signed deliveries, and refuses others with the reason in its log', async () => {
  /** Starts the receiver on a free port, and waits until it listens. */
  async function receive(secret?: string) {
    const program = start(['receive.mjs'], { PORT: '0', WEBHOOK_SECRET: secret });
    const line = await program.printed(() => program.lines[0]);
    return { program, url: `http://127.0.0.1:${line.split(' ').at(-1)}/` };
  }
  const refused = async ({ program, url }: Awaited<ReturnType<typeof receive>>, reason: string) => {
    expect((await fetch(url, { method: 'POST', body: '{}' })).status).toBe(400);
    await until(() => program.stderr.includes(`Refused: ${reason}`));
  };
  const withoutSecret = await receive();
  await refused(withoutSecret, 'The secret is not whsec_ and base64.');
  const { url } = withoutSecret;
  const { body } = await caller.post<{ id: number; secret: string }>('/webhooks', {
    url,
    types: ['pet.created'],
  });
  const receiver = await receive(body.secret);
  await refused(receiver, 'The timestamp');
  await caller.patch(`/webhooks/${body.id}`, { url: receiver.url });
  // The receiver uses the clock of the system, and refuses events that are older than five minutes.
  service.clock.set(Date.now());
  const pet = await arrange.pet();
  await until(() => receiver.program.lines.includes(`pet.created ${JSON.stringify(pet)}`));
});
