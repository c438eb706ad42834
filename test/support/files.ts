import { mkdtempSync, readFileSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parseAllDocuments } from 'yaml';

export const ROOT = join(__dirname, '../..');

export function read(file: string): string {
  return readFileSync(join(ROOT, file), 'utf8');
}

/** The documents of a YAML file. If the file has an error or a repeated key, this throws. */
export function readYaml<Content>(file: string): Content[] {
  return parseAllDocuments(read(file), { merge: true }).map((document) => {
    if (document.errors.length > 0) {
      throw new Error(`${file}: ${document.errors[0]!.message}`);
    }
    return document.toJS() as Content;
  });
}

/** The files below a folder whose names have this ending, by their paths from the root of the repository. */
export function filesOf(folder: string, ending: string): string[] {
  return readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith(ending))
    .map((name) => `${folder}/${name}`);
}

/** A folder that is removed after the tests of the file, or of the `describe`, that calls this. */
export function useFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'petstore-test-'));
  afterAll(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** A package as package-lock.json has it. */
export interface LockedPackage {
  name: string;
  version: string;
  /** An SPDX expression. Absent if the package names no license, or names it in a form that npm does not read. */
  license?: string;
  /** True if only development needs the package. */
  dev?: boolean;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
}

export interface PackageFile {
  name: string;
  version: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
  peerDependencies?: Record<string, string>;
  engines: Record<string, string>;
}

export function readJson<Content>(file: string): Content {
  return JSON.parse(read(file)) as Content;
}

/** Every package that `npm ci` may install, on whatever platform. */
export function lockedPackages(): LockedPackage[] {
  const { packages } = readJson<{ packages: Record<string, Omit<LockedPackage, 'name'>> }>(
    'package-lock.json',
  );
  return Object.entries(packages)
    .filter(([path]) => path !== '')
    .map(([path, entry]) => ({ ...entry, name: path.replace(/^.*node_modules\//, '') }));
}
