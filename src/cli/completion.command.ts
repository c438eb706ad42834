import { Command } from 'nest-commander';
import { type Commander, PetstoreCommand } from './command/command';
import { print } from './command/output';

/** What may follow the words of a command, ` keys` for instance, or an option of it that takes one of a few values. */
interface Place {
  words: string;
  isOption: boolean;
  next: readonly string[];
}

function placesOf(command: Commander, words = ''): Place[] {
  const below = command.commands.map((one) => one.name());
  const options = command.options.map(({ long }) => long!);
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return [
    { words, isOption: false, next: [...below, ...values, ...options, '--help'] },
    ...command.options.flatMap(({ long, argChoices: next }) =>
      next ? [{ words: `${words} ${long}`, isOption: true, next }] : [],
    ),
    ...command.commands.flatMap((one) => placesOf(one, `${words} ${one.name()}`)),
  ];
}

function quoted(places: Place[], isOption: boolean): string[] {
  return places.filter((place) => place.isOption === isOption).map(({ words }) => `'${words}'`);
}

/**
 * Arguments of commands are skipped, so that options are offered after them, too. `$((…))`, because zsh takes a letter after a
 * colon for a modifier.
 */
function bash(places: Place[]): string {
  return `_petstore() {
  local word command='' place='' next=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    place="$command $word"
    case "$place" in
      ${quoted(places, false).join('|')}) command="$place" ;;
      ${quoted(places, true).join('|')}) ;;
      *) place="$command" ;;
    esac
  done
  case "$place" in
${places.map(({ words, next }) => `    '${words}') next='${next.join(' ')}' ;;`).join('\n')}
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
  set -l command ''
  set -l place ''
  for word in (commandline -opc)[2..]
    set place "$command $word"
    if contains -- $place ${quoted(places, false).join(' ')}
      set command $place
    else if not contains -- $place ${quoted(places, true).join(' ')}
      set place $command
    end
  end
  switch "$place"
${places.map(({ words, next }) => `    case '${words}'\n      printf '%s\\n' ${next.join(' ')}`).join('\n')}
  end
end
complete -c petstore -f -a '(__petstore_next)'
complete -c petstore -n '__fish_seen_subcommand_from import export' -F`;
}

const SCRIPTS = { bash, zsh, fish };

@Command({
  name: 'completion',
  description: 'print a script that completes commands and options of petstore in a shell',
})
export class CompletionCommand extends PetstoreCommand {
  protected override readonly examples = [
    'completion bash > ~/.local/share/bash-completion/completions/petstore',
    'completion zsh >> ~/.zshrc',
    'completion fish > ~/.config/fish/completions/petstore.fish',
  ];

  protected override declare(command: Commander): void {
    command.addArgument(command.createArgument('<shell>').choices(Object.keys(SCRIPTS)));
  }

  protected async execute([shell]: [keyof typeof SCRIPTS]): Promise<void> {
    print(SCRIPTS[shell](placesOf(this.command.parent!)));
  }
}
