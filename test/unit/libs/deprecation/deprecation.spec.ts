import { type Deprecation, announcementOf, isSunset } from '#libs/http';

const DEPRECATION: Deprecation = {
  since: '2026-11-01',
  sunset: '2027-11-01',
  documentation: '/docs',
  successor: '/pets?id={petId}',
};

it('announces since when, until when, and what replaces it', () => {
  expect(announcementOf(DEPRECATION)({ petId: '7' })).toEqual({
    Deprecation: '@1793491200',
    Sunset: 'Mon, 01 Nov 2027 00:00:00 GMT',
    Link: '</docs>; rel="deprecation"; type="text/html", </pets?id=7>; rel="successor-version"',
  });
});

test.each([
  ['characters that would end the link', '7>; rel="x"', '7%3E%3B%20rel%3D%22x%22'],
  ['characters that would end the header field', '7\r\nX: y', '7%0D%0AX%3A%20y'],
  ['another parameter', '7&id=8', '7%26id%3D8'],
  ['characters beyond ASCII', 'é', '%C3%A9'],
  ['an unpaired surrogate', '\ud800', '%EF%BF%BD'],
])('escapes %s in the successor', (_what, petId, escaped) => {
  expect(announcementOf(DEPRECATION)({ petId }).Link).toContain(`</pets?id=${escaped}>; rel=`);
});

it('leaves a parameter empty that the request does not have', () => {
  expect(announcementOf(DEPRECATION)({}).Link).toContain('</pets?id=>');
});

test.each([
  ['a millisecond before', Date.UTC(2027, 10, 1) - 1, false],
  ['at the start of', Date.UTC(2027, 10, 1), true],
])('%s the day of the sunset, it has passed: %p', (_when, now, passed) => {
  expect(isSunset(DEPRECATION, now)).toBe(passed);
});
