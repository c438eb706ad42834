/**
 * Makes a target one that is routed as it reads. Escapes a percent sign that does not begin an escape of valid UTF-8, so
 * that such a path fails as an unknown path or a bad parameter: routers refuse it before the request has begun, outside of
 * the pipeline. An asterisk gets the slash that the router does not look for: it would take it for the root.
 */
export function repairRequestTarget(target: string): string {
  if (target === '*') {
    return '/*';
  }
  if (!target.includes('%')) {
    return target;
  }
  const queryStart = target.indexOf('?');
  const path = queryStart === -1 ? target : target.slice(0, queryStart);
  try {
    decodeURIComponent(path);
    return target;
  } catch {
    return path.replaceAll('%', '%25') + target.slice(path.length);
  }
}
