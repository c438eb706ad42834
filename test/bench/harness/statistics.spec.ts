import { spreadOf } from './statistics';

it.each([
  [[3], { median: 3, min: 3, max: 3 }],
  [[10, 9, 1], { median: 9, min: 1, max: 10 }],
  [[4, 1, 3, 2], { median: 2.5, min: 1, max: 4 }],
])('The spread of %j is %j', (values, spread) => {
  expect(spreadOf(values)).toEqual(spread);
});

it('There is no spread of no values', () => {
  expect(() => spreadOf([])).toThrow('no values');
});
