import { petstoreJson } from '../../../support/command-line';

/** A client without limits worth the name, made by the command line; its key. */
export async function unlimitedKey(environment: Record<string, string>): Promise<string> {
  const limits = ['--per-minute', '1000000', '--per-day', '1000000'];
  await petstoreJson(['clients', 'create', '--name', 'load', '--plan', 'enterprise', ...limits], environment);
  return (await petstoreJson<{ key: string }>(['keys', 'issue', '--client', 'load'], environment)).key;
}
