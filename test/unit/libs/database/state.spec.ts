import { State } from '../../../../libs/database/src/engine/state';

class Thing {
  id!: number;
  name!: string;
}

// What else commands of a batch see of each other is tested in test/http/modules/writes.spec.ts;
// no request changes what another one of its batch has inserted, so only the engine's own state shows this.
it('A batch writes what its commands have left of a row, once, and nothing of those that failed', () => {
  const [one, seven] = [
    { id: 1, name: 'one' },
    { id: 7, name: 'seven' },
  ];
  const state = new State(new Date(0));
  [one, { id: 2, name: 'two' }, { id: 3, name: 'three' }].forEach((row) =>
    state.keep(Thing, row.id, row, 'FOR UPDATE'),
  );
  state.decide({ decide: (draft) => draft.insert(Thing, 7, { id: 7, name: '7' }) });
  state.decide({ decide: (draft) => draft.update(Thing, 7, seven) });
  state.decide({ decide: (draft) => draft.delete(Thing, 1) });
  state.decide({ decide: (draft) => draft.update(Thing, 2, { id: 2, name: 'two' }) });
  const failing = (draft: State) => {
    draft.update(Thing, 3, { id: 3, name: '3' });
    draft.insert(Thing, 8, { id: 8, name: 'eight' });
    throw new Error('refused');
  };
  expect(() => state.decide({ decide: failing })).toThrow('refused');
  expect(state.writesOf(Thing)).toEqual({ insert: [seven], update: [], delete: [one] });
  expect(state.decide({ decide: (draft) => draft.find(Thing, 1) })).toBeNull();
});
