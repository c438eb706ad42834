/** A service of a compose file, as far as the rules look at it. */
export interface Container {
  image?: string;
  user?: string;
  build?: unknown;
  profiles?: string[];
  read_only?: boolean;
  privileged?: boolean;
  cap_drop?: string[];
  cap_add?: string[];
  security_opt?: string[];
  healthcheck?: { test?: string[]; disable?: boolean };
  deploy?: { resources?: { limits?: Record<string, unknown> } };
  environment?: Record<string, string>;
  command?: string[] | string;
  ports?: string[];
  networks?: string[] | Record<string, unknown>;
  depends_on?: Record<string, { condition: string }>;
  restart?: string;
  stop_grace_period?: string;
}

type Rule = [fault: string, holds: (container: Container) => boolean];

const RULES: Rule[] = [
  ['has a writable root file system', ({ read_only }) => read_only === true],
  ['is privileged', ({ privileged }) => privileged !== true],
  [
    'keeps capabilities',
    ({ cap_drop, cap_add }) => cap_drop?.includes('ALL') === true && cap_add === undefined,
  ],
  ['may gain privileges', ({ security_opt }) => security_opt?.includes('no-new-privileges:true') === true],
  // Our own image names its user itself.
  ['does not set a user', ({ user, build }) => build !== undefined || /^[1-9]\d*:\d+$/.test(user ?? '')],
  ['has no memory limit', ({ deploy }) => deploy?.resources?.limits?.memory !== undefined],
  ['has no CPU limit', ({ deploy }) => deploy?.resources?.limits?.cpus !== undefined],
  ['has no process limit', ({ deploy }) => deploy?.resources?.limits?.pids !== undefined],
  ['has no health check', ({ healthcheck, restart }) => healthcheck?.test !== undefined || restart === 'no'],
  [
    'is reachable from other machines',
    ({ ports = [] }) => ports.every((port) => port.startsWith('127.0.0.1:')),
  ],
];

export function faultsOfContainer(container: Container): string[] {
  return RULES.filter(([, holds]) => !holds(container)).map(([fault]) => fault);
}

/**
 * Variables of the environment that hold a secret and would do without one: a default, or none of it asked for.
 * @param text the compose file, before anything is put in for its variables
 */
export function secretsWithoutDemand(text: string): string[] {
  const uses = [...text.matchAll(/(?<!\$)\$\{(\w*(?:PASSWORD|SECRET|KEY|TOKEN)\w*)([^}]*)\}/g)];
  return uses.filter(([, , rest = '']) => !/^:\?.+/.test(rest)).map(([, name = '']) => name);
}

/** `name:1.2.3-variant`, `name:18.4` for those with two numbers, or a digest. */
export function isPinned(image: string): boolean {
  return /:v?\d+(\.\d+){1,2}(-[\w.]+)*$/.test(image) || /@sha256:[\da-f]{64}$/.test(image);
}
