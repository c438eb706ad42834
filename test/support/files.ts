import { readFileSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(__dirname, '../..');

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The documents of a YAML file; a mistake in it, or a key given twice, fails. */
export function readYaml<Content>(file: string): Content[] {
  return parseAllDocuments(read(file), { merge: true }).map((document) => {
    if (document.errors.length > 0) {
      throw new Error(`${file}: ${document.errors[0]!.message}`);
    }
    return document.toJS() as Content;
  });
}

/** Files below a folder whose names end so, by their paths from the root. */
export function filesOf(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);
}
