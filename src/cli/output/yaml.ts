import { stringify } from 'yaml';
import { printable } from '../../runtime/messages';

/** The lines of a value in YAML. */
export function yamlLines(value: object): string[] {
  return stringify(value).trimEnd().split('\n').map(printable);
}
