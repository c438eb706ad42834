// The completion script for shells. It is static, so that Tab starts no process.

/** The part of commander's Command that is used here. */
export interface Completable {
  name(): string;
  readonly commands: readonly Completable[];
  readonly options: readonly { long?: string; description: string; required: boolean }[];
}

/** Enables bash completions in zsh. */
const ZSH_PREAMBLE = `if [ -n "$ZSH_VERSION" ]; then
  whence compdef >/dev/null || { autoload -U compinit && compinit; }
  autoload -U +X bashcompinit && bashcompinit
fi
`;

/** For bash and zsh. For values of options and arguments the shell completes file names. */
export function completionScript(root: Completable): string {
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
function wordsByPath(command: Completable, path = ''): [string, string[]][] {
  const options = command.options.flatMap(({ long, description }) =>
    long && description !== '' ? [long] : [],
  );
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
