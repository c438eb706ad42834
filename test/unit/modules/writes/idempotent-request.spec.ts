import { State } from '../../../../libs/database/src/engine/state';
import { IdempotentRequest, type Outcome } from '../../../../src/modules/writes/idempotent-request';

const STORED = { fingerprint: 'same', status: 201, body: '{"id":7}' };

it('reports what the last run of a command has done, because a batch may run again with other data', () => {
  let outcome: Outcome | undefined;
  const request = new IdempotentRequest('1 key', 'same', 201);
  const command = request.wrap({ needs: [], decide: () => ({ id: 8 }) }, (reported) => {
    outcome = reported;
  });
  /** Runs the command, and returns its result or the code of its error. */
  const run = (isClaimed: boolean, stored: typeof STORED | null): unknown => {
    const state = new State(new Date('2026-11-21T09:30:00Z'));
    const [claim, response] = command.needs.filter((need) => 'lookup' in need);
    state.addLoaded(claim!.lookup, claim!.key, isClaimed);
    state.addLoaded(response!.lookup, response!.key, stored);
    try {
      return state.decide(command);
    } catch (error) {
      return (error as { code: string }).code;
    }
  };
  const runs: [isClaimed: boolean, stored: typeof STORED | null, result: unknown, Outcome][] = [
    [true, STORED, { id: 7 }, 'replayed'],
    [false, STORED, 'idempotency_in_progress', 'decided'],
    [true, { ...STORED, status: 409, body: '{"code":"kept","message":""}' }, 'kept', 'replayed'],
    [true, { ...STORED, fingerprint: 'other' }, 'idempotency_key_reused', 'decided'],
    [true, STORED, { id: 7 }, 'replayed'],
    [true, null, { id: 8 }, 'decided'],
  ];
  for (const [isClaimed, stored, result, expected] of runs) {
    expect(run(isClaimed, stored)).toEqual(result);
    expect(outcome).toBe(expected);
  }
});
