import { Command, type CommandRunner } from 'nest-commander';
import { VERSION } from '../runtime/version';
import { PetstoreCommand, ResultCommand } from './command/command';
import { Flag } from './command/option';
import { printDone } from './output/output';
import { writeOutput } from './output/standard-output';

type Program = Parameters<CommandRunner['setCommand']>[0];

@Command({
  name: 'serve',
  description: 'run the service until SIGTERM or Ctrl-C; configured by the environment',
})
export class ServeCommand extends PetstoreCommand {
  protected override readonly examples = ['serve', 'serve > petstore.log'];

  /** Never returns: the server ends the process. */
  async run(): Promise<void> {
    await import('../main.js');
    await new Promise(() => undefined);
  }
}

@Command({ name: 'openapi', description: 'print the OpenAPI document; needs neither server nor database' })
export class OpenapiCommand extends PetstoreCommand {
  protected override readonly examples = ['openapi > openapi.json', 'openapi --yaml'];

  @Flag('--yaml', 'as YAML instead of JSON') yaml?: boolean;

  async run(): Promise<void> {
    const { describeInterface } = await import('./describe-interface.js');
    writeOutput(await describeInterface(this.yaml ? 'yaml' : 'json'));
  }
}

@Command({ name: 'completion', description: 'print a completion script for bash and zsh' })
export class CompletionCommand extends PetstoreCommand {
  protected override readonly examples = [
    "completion > ~/.petstore.sh && echo '. ~/.petstore.sh' >> ~/.bashrc",
    "completion > ~/.petstore.sh && echo '. ~/.petstore.sh' >> ~/.zshrc",
  ];

  run(): Promise<void> {
    writeOutput(completionScript(this.command.parent!));
    return Promise.resolve();
  }
}

@Command({ name: 'version', description: 'print the version; also: -v, --version' })
export class VersionCommand extends ResultCommand {
  protected override readonly examples = ['version', 'version --json'];

  async run(): Promise<void> {
    await printDone(VERSION, { version: VERSION, node: process.versions.node }, this);
  }
}

/** Enables bash completions in zsh. */
const ZSH_PREAMBLE = `if [ -n "$ZSH_VERSION" ]; then
  whence compdef >/dev/null || { autoload -U compinit && compinit; }
  autoload -U +X bashcompinit && bashcompinit
fi
`;

/** For bash and zsh. It is static, so that Tab starts no process. For values of options and arguments the shell completes file names. */
export function completionScript(root: Program): string {
  const cases = wordsByPath(root).map(([path, words]) => `    '${path}') choices='${words.join(' ')}';;`);
  return `${ZSH_PREAMBLE}_petstore_words() {
  case "$1" in
${cases.join('\n')}
    *) choices='';;
  esac
}
_petstore() {
  local at='' word choices
  COMPREPLY=()
  case "\${COMP_WORDS[COMP_CWORD-1]}" in ${valuedOptions(root).join('|')}) return;; esac
  _petstore_words "$at"
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD-1))}"; do
    case "$word" in -*) continue;; esac
    case " $choices " in *" $word "*) at="$at $word"; _petstore_words "$at";; esac
  done
  COMPREPLY=($(compgen -W "$choices" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _petstore petstore
`;
}

/** The subcommands and options of each command. */
function wordsByPath(command: Program, path = ''): [string, string[]][] {
  const options = command.options.flatMap(({ long, description }) =>
    long && description !== '' ? [long] : [],
  );
  const words = [...command.commands.map((below) => below.name()), ...options, '--help'];
  return [
    [path, words],
    ...command.commands.flatMap((below) => wordsByPath(below, `${path} ${below.name()}`)),
  ];
}

function valuedOptions(command: Program): string[] {
  const own = command.options.flatMap(({ long, required }) => (long && required ? [long] : []));
  return [...new Set([...own, ...command.commands.flatMap(valuedOptions)])];
}
