import { DockerfileParser, type Instruction, type JSONInstruction } from 'dockerfile-ast';

/** What a Dockerfile has against our rules, one sentence each. They follow hadolint's, and our own promise of an image without a shell's quirks. */
export function faultsOf(text: string): string[] {
  const instructions = DockerfileParser.parse(text).getInstructions();
  return [
    ...baseFaults(instructions),
    ...instructions.flatMap((instruction) => [...formFaults(instruction), ...secretFaults(instruction)]),
    ...lastStageFaults(lastStage(instructions)),
  ];
}

function named(instructions: Instruction[], name: string): Instruction[] {
  return instructions.filter((instruction) => instruction.getKeyword() === name);
}

function content(instruction: Instruction | undefined): string {
  return instruction?.getArgumentsContent() ?? '';
}

export function lastStage(instructions: Instruction[]): Instruction[] {
  return instructions.slice(instructions.findLastIndex((instruction) => instruction.getKeyword() === 'FROM'));
}

/** Images of others are pinned by their whole version; stages of the same file by their name. */
function baseFaults(instructions: Instruction[]): string[] {
  const stages = new Set<string>();
  return named(instructions, 'FROM').flatMap((instruction) => {
    const [image = '', , stage] = content(instruction).split(/\s+/);
    const pinned = stages.has(image) || isPinned(image);
    stages.add(stage ?? '');
    return pinned ? [] : [`${image} is not pinned to a whole version`];
  });
}

/** `name:1.2.3-variant`, `name:18.4` for those with two numbers, or a digest. */
export function isPinned(image: string): boolean {
  return /:v?\d+(\.\d+){1,2}(-[\w.]+)*$/.test(image) || /@sha256:[\da-f]{64}$/.test(image);
}

function formFaults(instruction: Instruction): string[] {
  const name = instruction.getKeyword();
  if (name === 'ADD') {
    return ['ADD fetches and unpacks on its own: COPY is meant'];
  }
  if (name === 'CMD' || name === 'ENTRYPOINT') {
    return isExecForm(instruction)
      ? []
      : [`${name} is not in the exec form: a shell would not pass signals on`];
  }
  if (name === 'RUN' && /\bnpm (ci|install)\b/.test(content(instruction))) {
    return content(instruction).includes('--ignore-scripts') ? [] : ['npm runs the scripts of dependencies'];
  }
  return [];
}

function isExecForm(instruction: Instruction): boolean {
  return (instruction as JSONInstruction).getOpeningBracket() !== null;
}

function secretFaults(instruction: Instruction): string[] {
  const names =
    content(instruction).match(/\b\w*(PASSWORD|SECRET|TOKEN|API_KEY|DATABASE_URL|REDIS_URL)\w*/gi) ?? [];
  return ['ARG', 'ENV', 'LABEL'].includes(instruction.getKeyword())
    ? names.map((name) => `${name} would be there for everybody to read in the image`)
    : [];
}

function lastStageFaults(stage: Instruction[]): string[] {
  const user = content(named(stage, 'USER').at(-1));
  const health = content(named(stage, 'HEALTHCHECK').at(-1));
  return [
    ...(/^[1-9]\d*(:\d+)?$/.test(user) ? [] : ['it does not run as a user with a number other than 0']),
    ...(/CMD\s*\[\s*"node"/.test(health) ? [] : ['its health is not checked by node itself']),
    ...(named(stage, 'ENTRYPOINT').length === 1 ? [] : ['it has no ENTRYPOINT of its own']),
    ...(named(stage, 'RUN').some((run) => /\bapt-get|npm (ci|install)\b/.test(content(run)))
      ? ['it installs something in the stage that is shipped']
      : []),
  ];
}
