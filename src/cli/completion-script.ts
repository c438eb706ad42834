// Completion scripts for shells. They are static, so that Tab starts no process.

/** The part of commander's Command that is used here. */
export interface Completable {
  name(): string;
  description(): string;
  readonly commands: readonly Completable[];
  readonly options: readonly { long?: string; description: string; required: boolean }[];
}

export const SHELLS = ['bash', 'zsh', 'fish'] as const;
export type Shell = (typeof SHELLS)[number];

/**
 * The completion script for `petstore`. For values of options and arguments the shell completes file names.
 * @param program the command line that starts `petstore` when it is not on the path
 */
export function completionScript(root: Completable, shell: Shell, program: readonly string[]): string {
  const start = program.map(quoted).join(' ');
  return shell === 'fish' ? fishScript(root, start) : bashScript(root, start, shell);
}

/** Enables bash completions in zsh. */
const ZSH_PREAMBLE = `(( $+functions[compdef] )) || { autoload -U compinit && compinit }
autoload -U +X bashcompinit && bashcompinit
`;

function bashScript(root: Completable, start: string, shell: Shell): string {
  const cases = wordsByPath(root).map(([path, words]) => `    '${path}') choices='${words.join(' ')}';;`);
  return `${shell === 'zsh' ? ZSH_PREAMBLE : ''}command -v petstore >/dev/null || petstore() { ${start} "$@"; }
_petstore_words() {
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

function fishScript(root: Completable, start: string): string {
  return `type -q petstore; or function petstore; ${start} $argv; end
function __petstore_at
  set -l words (commandline -opc)
  test "$(string match -v -- '-*' $words[2..-1] | string join ' ')" = "$argv"
end
function __petstore_within
  string match -q -- "$argv *" "$(commandline -opc | tail -n +2 | string join ' ') "
end
${fishLines(root, []).join('\n')}
`;
}

/** Completions for a command and its subcommands. */
function fishLines(command: Completable, path: string[]): string[] {
  const at = quoted(`__petstore_at ${path.join(' ')}`.trimEnd());
  const within = quoted(`__petstore_within ${path.join(' ')}`.trimEnd());
  const below = command.commands.map(
    (one) => `complete -c petstore -f -n ${at} -a ${one.name()} -d ${quoted(one.description())}`,
  );
  const options = command.options.flatMap(({ long, description, required }) => {
    const value = required ? ' -r' : '';
    return long && description !== ''
      ? [`complete -c petstore -n ${within} -l ${long.slice(2)}${value} -d ${quoted(description)}`]
      : [];
  });
  const further = command.commands.flatMap((one) => fishLines(one, [...path, one.name()]));
  return [...below, ...(path.length === 0 ? [] : options), ...further];
}

/** Quotes a word for the shell. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
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
