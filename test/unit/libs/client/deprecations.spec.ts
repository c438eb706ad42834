import type { DeprecationNotice } from '#libs/client';
import { configure } from '../../../../libs/client/src/options';
import { json, scriptedClient } from '../../../support/scripted';

const NOTICE: DeprecationNotice = {
  operation: 'GET /pets/{petId}',
  since: new Date('2026-11-01T00:00:00Z'),
  sunset: new Date('2027-11-01T00:00:00Z'),
  successor: '/pets?id=1',
};
const { onDeprecation } = configure({ baseUrl: 'http://store.test', apiKey: 'a' });
const WARNING =
  'Pet Store: GET /pets/{petId} is deprecated and may be gone from 2027-11-01; its successor is /pets?id=1.';

afterEach(() => jest.restoreAllMocks());

it('The default warning is a deprecation warning of the process', () => {
  const emitWarning = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  onDeprecation(NOTICE);
  expect(emitWarning.mock.calls).toEqual([
    [WARNING, { type: 'DeprecationWarning', code: 'PETSTORE_DEPRECATION' }],
  ]);
});

it('Without a process, as in a browser, it goes to the console', () => {
  const warn = jest.spyOn(console, 'warn').mockImplementation(() => {});
  const { process } = globalThis;
  try {
    Object.assign(globalThis, { process: undefined });
    onDeprecation({ operation: 'GET /pets' });
  } finally {
    Object.assign(globalThis, { process });
  }
  expect(warn.mock.calls).toEqual([['Pet Store: GET /pets is deprecated.']]);
});

it('A notice has only what the response contains', async () => {
  const notices: DeprecationNotice[] = [];
  const { client } = scriptedClient([json([], { Deprecation: 'true', Sunset: 'soon' })], {
    onDeprecation: (notice) => notices.push(notice),
  });
  await client.pets.list();
  expect(notices).toEqual([{ operation: 'GET /pets' }]);
});
