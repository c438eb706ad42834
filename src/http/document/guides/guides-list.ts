/** The guides in the order in which they are read; the first is the index. Each is a file of its name in docs/guides. */
export const GUIDES = [
  'README',
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

/** Where a guide is served. */
export function guidePath(name: GuideName): string {
  return name === 'README' ? INDEX_PATH : `${INDEX_PATH}/${name}`;
}
