/**
 * Repairs targets that the router would mishandle. If the path is not valid percent-encoded UTF-8, its percent signs
 * are escaped, so that it fails inside the pipeline as an unknown path or a bad parameter, not in the router. An
 * asterisk gets a slash, because the router would treat it as the root.
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
