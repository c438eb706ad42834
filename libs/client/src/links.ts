const LINK = /<([^<>]*)>((?:\s*;\s*[\w*-]+\s*=\s*(?:"[^"]*"|[^\s",;]+))*)/g;
const PARAMETER = /;\s*([\w*-]+)\s*=\s*(?:"([^"]*)"|([^\s",;]+))/g;

/** Targets of a `Link` field (RFC 8288) by relation, unchanged; the first one of each relation. */
export function readLinks(headers: Headers): Map<string, string> {
  const links = new Map<string, string>();
  for (const [, target, parameters] of (headers.get('link') ?? '').matchAll(LINK)) {
    const read = [...parameters!.matchAll(PARAMETER)];
    const [, , quoted, bare] = read.find(([, name]) => name!.toLowerCase() === 'rel') ?? [];
    for (const relation of (quoted ?? bare ?? '').split(/\s+/)) {
      if (relation !== '' && !links.has(relation)) {
        links.set(relation, target!);
      }
    }
  }
  return links;
}

/**
 * The cursor of the next page; undefined on the last page. Only the cursor is taken from the link: the key must not be
 * sent to another host, and the service may not know the path prefix of a proxy.
 */
export function nextCursor(headers: Headers): string | undefined {
  const target = readLinks(headers).get('next');
  const query = target?.split('#', 1)[0]!.split('?').slice(1).join('?');
  return new URLSearchParams(query).get('cursor') ?? undefined;
}
