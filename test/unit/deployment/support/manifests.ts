import { filesOf, readYaml } from '../../../support/files';

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
