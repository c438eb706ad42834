/**
 * Escapes a percent sign that does not begin an escape of valid UTF-8, so that such a path is routed like any other
 * and fails as an unknown path or a bad parameter. Routers refuse it before the request has begun, outside of
 * the pipeline.
 */
export function repairRequestTarget(target: string): string {
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
