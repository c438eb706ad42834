/** The guide that lists the others. */
export const INDEX_GUIDE = 'README';

/** The guides in reading order. Each is a file of this name in docs/guides. */
export const GUIDES = [
  INDEX_GUIDE,
  'getting-started',
  'authentication',
  'limits',
  'errors',
  'pagination',
  'events',
  'webhooks',
  'idempotency',
  'deprecation',
  'changelog',
] as const;

export type GuideName = (typeof GUIDES)[number];

export const INDEX_PATH = '/docs/guides';

/** The path that serves a guide. */
export function guidePath(name: GuideName): string {
  return name === INDEX_GUIDE ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}
