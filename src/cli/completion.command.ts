import { Command } from 'nest-commander';
import { type Commander, PetstoreCommand } from './command/command';
import { oneOf } from './command/option';
import { print } from './command/output';

/** What may follow the words of a command: ` keys` is followed by `issue`, `list` and so on. */
interface Place {
  words: string;
  next: string[];
}

function placesOf(command: Commander, words = ''): Place[] {
  const below = command.commands.map((one) => one.name());
  const options = command.options.map(({ long }) => long!);
  return [
    { words, next: [...below, ...options, '--help'] },
    ...command.commands.flatMap((one) => placesOf(one, `${words} ${one.name()}`)),
  ];
}

const quoted = ({ words }: Place) => `'${words}'`;

/**
 * Arguments of commands are skipped, so that options are offered after them, too. `$((…))`, because zsh takes a letter after a
 * colon for a modifier.
 */
function bash(places: Place[]): string {
  return `_petstore() {
  local word at='' next=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$at $word" in ${places.slice(1).map(quoted).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map((place) => `    ${quoted(place)}) next='${place.next.join(' ')}' ;;`).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _petstore petstore`;
}

function zsh(places: Place[]): string {
  return `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U bashcompinit && bashcompinit
${bash(places)}`;
}

function fish(places: Place[]): string {
  return `function __petstore_next
  set -l at ''
  for word in (commandline -opc)[2..]
    if contains -- "$at $word" ${places.slice(1).map(quoted).join(' ')}
      set at "$at $word"
    end
  end
  switch "$at"
${places.map((place) => `    case ${quoted(place)}\n      printf '%s\\n' ${place.next.join(' ')}`).join('\n')}
  end
end
complete -c petstore -f -a '(__petstore_next)'
complete -c petstore -n '__fish_seen_subcommand_from import export' -F`;
}

const SCRIPTS = { bash, zsh, fish };
const shellIn = oneOf(['bash', 'zsh', 'fish']);

@Command({
  name: 'completion',
  arguments: '<shell>',
  argsDescription: { shell: 'bash, zsh or fish' },
  description: 'print a script that completes commands and options of petstore in a shell',
})
export class CompletionCommand extends PetstoreCommand {
  protected override readonly examples = [
    'completion bash > ~/.local/share/bash-completion/completions/petstore',
    'completion zsh >> ~/.zshrc',
    'completion fish > ~/.config/fish/completions/petstore.fish',
  ];

  async work([shell = '']: string[]): Promise<void> {
    print(SCRIPTS[shellIn(shell)](placesOf(this.command.parent!)));
  }
}
