import { join } from 'node:path';
import * as ts from 'typescript';
import { ROOT, filesOf, readYaml } from '../../../support/files';

/** Read by their files: the package's faces would have the compiler read every kind there is. */
const TYPES = join(ROOT, 'node_modules/kubernetes-models');

export interface Manifest {
  apiVersion: string;
  kind: string;
  metadata: { name: string };
}

/** All manifests of a folder, without the kustomizations, which are no objects of a cluster. */
export function manifestsOf(folder: string): { file: string; manifest: Manifest }[] {
  return filesOf(folder, '.yaml')
    .filter((file) => !file.endsWith('kustomization.yaml'))
    .flatMap((file) => readYaml<Manifest>(file).map((manifest) => ({ file, manifest })));
}

type Model = new (content: Manifest) => { validate(): void };

/** @returns what the cluster's schema has against a manifest; an unknown kind is a fault as well */
export async function schemaFaults(manifest: Manifest): Promise<string[]> {
  const models = (await import(`kubernetes-models/${manifest.apiVersion}`)) as Record<
    string,
    Model | undefined
  >;
  const model = models[manifest.kind];
  if (model === undefined) {
    return [`${manifest.apiVersion} has no ${manifest.kind}`];
  }
  try {
    new model(manifest).validate();
    return [];
  } catch (error) {
    return [(error as Error).message];
  }
}

/**
 * The schemas let fields pass that they do not know, and so does a cluster, with a warning: a misspelt `readinessProbe` would be
 * none. The types do not: each manifest is written as a literal of its kind's type, and the compiler reads them.
 * @returns its complaints
 */
export function unknownFields(manifests: Manifest[]): string[] {
  const literals = manifests.map(({ apiVersion, kind, ...rest }, index) => {
    const content = JSON.stringify({ apiVersion, kind, ...rest });
    return `export const m${index}: import('${TYPES}/${apiVersion}/${kind}').I${kind} = ${content};`;
  });
  const file = join(ROOT, 'test/written-by-the-test.ts');
  const options: ts.CompilerOptions = {
    module: ts.ModuleKind.NodeNext,
    target: ts.ScriptTarget.ES5,
    strict: true,
    noEmit: true,
    skipLibCheck: true,
    types: [],
    lib: ['lib.es5.d.ts'],
  };
  const host = ts.createCompilerHost(options);
  const { getSourceFile, fileExists } = host;
  host.fileExists = (name) => name === file || fileExists(name);
  host.getSourceFile = (name, ...rest) =>
    name === file
      ? ts.createSourceFile(name, literals.join('\n'), options.target!)
      : getSourceFile(name, ...rest);
  const program = ts.createProgram([file], options, host);
  return program
    .getSemanticDiagnostics(program.getSourceFile(file))
    .map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, ' '));
}
