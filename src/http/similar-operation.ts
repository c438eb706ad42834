import type { FastifyRequest, RouteOptions } from 'fastify';

/**
 * Replacements that turn a path that this service does not have into the path that the caller probably means. The
 * replacements cover paths with a version, the paths of the Swagger Petstore, and nouns in the singular.
 */
const OTHER_PATHS: [pattern: RegExp, path: string][] = [
  [/\/{2,}/g, '/'],
  [/(?<=.)\/$/, ''],
  [/^(\/api)?(\/v\d+)?(?=\/)/, ''],
  [/\/(event|order|pet|webhook)(?=\/|$)/g, '/$1s'],
  [/\/category(?=\/|$)/g, '/categories'],
  [/^\/(inventory|orders)(?=\/|$)/, '/store/$1'],
  [/^\/pets\/findbystatus$/, '/pets?status={status}'],
];

const documented = (pattern: string): string => pattern.replace(/:(\w+)/g, '{$1}');

/** Knows all routes. For a request with an unknown path, finds the route that the caller probably means. */
export class SimilarOperations {
  /**
   * The paths to recommend, by route pattern and method. For a deprecated operation, the path to recommend is the path
   * of the operation's successor.
   */
  private readonly routes = new Map<string, Map<string, string>>();

  add({ url, method, config }: RouteOptions): void {
    const methods = this.routes.get(url) ?? new Map<string, string>();
    this.routes.set(url, methods.set(String(method), config?.deprecation?.successor ?? documented(url)));
  }

  /**
   * Returns the operation that a request for an unknown path probably means, for example `GET /pets`. If the path of
   * this operation does not support the method of the request, returns only the path. The result never contains text of
   * the request. For `/pet/7`, the result has `{petId}` instead of `7`. Otherwise, the author of a link could choose
   * text that the service shows in an error message.
   */
  find({ method, url }: FastifyRequest): string | undefined {
    const [asked] = url.toLowerCase().split(/[?#]/, 1);
    const usual = OTHER_PATHS.reduce((path, [pattern, other]) => path.replace(pattern, other), asked!);
    const [path, query] = usual.split(/(?=\?)/);
    const parts = path!.split('/');
    const isSame = (segment: string, index: number) =>
      segment.startsWith(':') ? parts[index] !== '' : segment === parts[index];
    for (const [pattern, methods] of this.routes) {
      const segments = pattern.split('/');
      if (segments.length === parts.length && segments.every(isSame)) {
        const known = methods.get(method);
        return known === undefined ? documented(pattern) : `${method} ${known}${query ?? ''}`;
      }
    }
    return undefined;
  }
}
