import { State } from '../../../../libs/database/src/engine/state';

class Thing {
  id!: number;
  name!: string;
}

// What else commands of a batch see of each other is tested in test/http/modules/store-rules.spec.ts;
// no request changes what another one of its batch has inserted, so only the engine's own state shows this.
it('A batch inserts a row once, however often it changes, and deletes an existing one', () => {
  const state = new State(new Date(0));
  state.batch.rows.set(Thing, 1, { id: 1, name: 'one' });
  state.decide({ decide: (draft) => draft.insert(Thing, 7, { id: 7, name: 'seven' }) });
  state.decide({ decide: (draft) => draft.update(Thing, 7, { id: 7, name: '7' }) });
  state.decide({ decide: (draft) => draft.delete(Thing, 1) });
  expect([...state.batch.changes.of(Thing)]).toEqual([
    [7, 'inserted'],
    [1, 'deleted'],
  ]);
  expect(state.batch.rows.get(Thing, 7)).toEqual({ id: 7, name: '7' });
  expect(state.decide({ decide: (draft) => draft.find(Thing, 1) })).toBeNull();
});
