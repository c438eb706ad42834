import fc from 'fast-check';
import { UnknownQueryGuard } from '#libs/http';
import { CommandExecutor, type State } from '#libs/database';
import { useService } from '../../support/use-service';
import { FuzzClient } from './support/fuzz-client';
import type { FuzzRequest } from './support/fuzz-request';
import { requestsOf } from './support/request-values';

const ROUNDS = 400;
const SEED = 7;
/** It only ends a hang. */
const MOST_MS = 250_000;

/** A fuzzer that finds nothing may look for nothing. It has to find these, and reduce them to the one request that shows them. */
describe('the fuzzer finds', () => {
  const service = useService();
  let client: FuzzClient;

  beforeAll(async () => {
    client = await FuzzClient.of(service);
  });
  afterAll(() => client.close());
  afterEach(() => jest.restoreAllMocks());

  async function smallestFailure(): Promise<{ requests: FuzzRequest[]; message: string }> {
    const property = fc.asyncProperty(
      fc.array(requestsOf(service.document), { maxLength: 10 }),
      async (requests) => {
        for (const request of requests) {
          await client.send(request);
        }
      },
    );
    const limits = { seed: SEED, numRuns: ROUNDS, interruptAfterTimeLimit: MOST_MS };
    const { failed, counterexample, errorInstance } = await fc.check(property, limits);
    expect(failed).toBe(true);
    return { requests: counterexample![0], message: (errorInstance as Error).message };
  }

  it('an operation that fails on some of its values', async () => {
    const run = CommandExecutor.prototype.run;
    jest.spyOn(CommandExecutor.prototype, 'run').mockImplementation(function (
      this: CommandExecutor,
      command,
      origin,
    ) {
      const decide = (state: State) => {
        const answer = command.decide(state);
        if ((answer as { description?: string } | undefined)?.description) {
          throw new TypeError('planted');
        }
        return answer;
      };
      return run.call(this, { ...command, decide }, origin) as never;
    });
    const { requests, message } = await smallestFailure();
    expect(message).toContain('the service has failed');
    expect(requests).toEqual([expect.objectContaining({ method: 'POST', target: '/categories' })]);
    expect(requests[0]!.body!.length).toBeLessThan(60);
  });

  it('an operation that accepts what it should reject', async () => {
    jest.spyOn(UnknownQueryGuard.prototype, 'canActivate').mockReturnValue(true);
    const { requests, message } = await smallestFailure();
    expect(message).toContain('it should have been refused');
    expect(requests).toHaveLength(1);
  });
});
