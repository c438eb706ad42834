import { State, countById } from '../../../../libs/database/src/engine/state';

class Thing {
  id!: number;
  name!: string;
  at!: Date | null;
}
const COUNT = countById('the count', '');

describe('The state of a batch', () => {
  let state: State;
  beforeEach(() => {
    state = new State(new Date(0));
    state.batch.rows.set(Thing, 1, { id: 1, name: 'one', at: null });
    state.batch.rows.set(Thing, 2, null);
    state.batch.lookups.set(COUNT, 1, 5);
    state.batch.newIds.set(Thing, [8, 7]);
  });

  it('shows a command the changes of those before it', () => {
    state.decide({
      decide: (draft) => {
        draft.update(Thing, 1, { id: 1, name: 'first', at: null });
        draft.note(COUNT, 1, (count) => count - 1);
        draft.insert(Thing, draft.newId(Thing), { id: 7, name: 'seven', at: null });
      },
    });
    const seen = state.decide({
      decide: (draft) => [draft.find(Thing, 1)?.name, draft.lookUp(COUNT, 1), draft.newId(Thing)],
    });
    expect(seen).toEqual(['first', 4, 8]);
    expect([...state.batch.changes.of(Thing)]).toEqual([
      [1, 'updated'],
      [7, 'inserted'],
    ]);
  });

  it('discards the changes of a refused command', () => {
    const refused = {
      decide: (draft: State) => {
        draft.update(Thing, 1, { id: 1, name: 'first', at: null });
        draft.note(COUNT, 1, (count) => count - 1);
        throw new Error('refused');
      },
    };
    expect(() => state.decide(refused)).toThrow('refused');
    expect(state.decide({ decide: (draft) => [draft.find(Thing, 1)?.name, draft.lookUp(COUNT, 1)] })).toEqual(
      ['one', 5],
    );
    expect(state.batch.changes.of(Thing).size).toBe(0);
  });

  it('ignores an update that changes nothing', () => {
    const at = new Date(5);
    state.batch.rows.set(Thing, 3, { id: 3, name: 'three', at });
    state.decide({
      decide: (draft) => {
        draft.update(Thing, 1, { id: 1, name: 'one', at: null });
        draft.update(Thing, 3, { id: 3, name: 'three', at: new Date(5) });
      },
    });
    expect(state.batch.changes.of(Thing).size).toBe(0);
  });

  it('inserts a row once, however often it changes in the batch, and deletes an existing one', () => {
    state.decide({ decide: (draft) => draft.insert(Thing, 7, { id: 7, name: 'seven', at: null }) });
    state.decide({ decide: (draft) => draft.update(Thing, 7, { id: 7, name: '7', at: null }) });
    state.decide({ decide: (draft) => draft.delete(Thing, 1) });
    expect([...state.batch.changes.of(Thing)]).toEqual([
      [7, 'inserted'],
      [1, 'deleted'],
    ]);
    expect(state.batch.rows.get(Thing, 7)).toEqual({ id: 7, name: '7', at: null });
    expect(state.decide({ decide: (draft) => draft.find(Thing, 1) })).toBeNull();
  });

  it.each([
    ['a row', (draft: State) => draft.find(Thing, 9)],
    ['a counter', (draft: State) => draft.lookUp(COUNT, 9)],
  ])('throws for %s that was not loaded', (_what, read) => {
    expect(() => state.decide({ decide: (draft) => read(draft) })).toThrow('do not include');
  });
});
