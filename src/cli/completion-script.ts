// A script that lets a shell complete the command line by itself, without starting a process at each press of Tab.

/** What is needed of a command of commander. */
export interface Completable {
  name(): string;
  readonly commands: readonly Completable[];
  readonly options: readonly { long?: string; required: boolean }[];
}

export const SHELLS = ['bash', 'zsh'] as const;
export type Shell = (typeof SHELLS)[number];

/** Makes zsh understand what is written for bash. */
const ZSH_PREAMBLE = `(( $+functions[compdef] )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
`;

/**
 * The script for `petstore`, given all its commands. Where a value belongs (after an option that takes one, or as an
 * argument) the shell is left to complete files.
 */
export function completionScript(root: Completable, shell: Shell): string {
  const cases = wordsByPath(root).map(([path, words]) => `    '${path}') choices='${words.join(' ')}';;`);
  return `${shell === 'zsh' ? ZSH_PREAMBLE : ''}_petstore_words() {
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

/** What may follow each path of commands: further commands, and options. */
function wordsByPath(command: Completable, path = ''): [string, string[]][] {
  const options = command.options.flatMap(({ long }) => (long ? [long] : []));
  const words = [...command.commands.map((below) => below.name()), ...options, '--help'];
  return [
    [path, words],
    ...command.commands.flatMap((below) => wordsByPath(below, `${path} ${below.name()}`)),
  ];
}

function valuedOptions(command: Completable): string[] {
  const own = command.options.flatMap(({ long, required }) => (long && required ? [long] : []));
  return [...new Set([...own, ...command.commands.flatMap(valuedOptions)])];
}
