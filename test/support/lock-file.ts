import { read } from './files';

export { ROOT } from './files';

/** A package as package-lock.json has it. */
export interface LockedPackage {
  name: string;
  version: string;
  /** An SPDX expression; absent where the package has none, or one in a form that npm does not read. */
  license?: string;
  /** Only what is needed for development needs it. */
  dev?: boolean;
  resolved?: string;
  integrity?: string;
  hasInstallScript?: boolean;
}

export interface PackageFile {
  name: string;
  dependencies: Record<string, string>;
  devDependencies: Record<string, string>;
  optionalDependencies: Record<string, string>;
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
