import { slopeOf, spreadOf } from './statistics';

it.each([
  [[3], { median: 3, min: 3, max: 3 }],
  [[10, 9, 1], { median: 9, min: 1, max: 10 }],
  [[4, 1, 3, 2], { median: 2.5, min: 1, max: 4 }],
])('The spread of %j is %j', (values, spread) => {
  expect(spreadOf(values)).toEqual(spread);
});

it('The slope of points on a line is the slope of the line', () => {
  expect(
    slopeOf([
      [1, 5],
      [2, 8],
      [4, 14],
    ]),
  ).toBeCloseTo(3);
});

it('The slope of scattered points is that of the best-fit line', () => {
  expect(
    slopeOf([
      [0, 1],
      [0, -1],
      [10, 21],
      [10, 19],
    ]),
  ).toBeCloseTo(2);
});

it('An empty list has no spread', () => {
  expect(() => spreadOf([])).toThrow('no values');
});
