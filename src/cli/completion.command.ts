import { Command } from 'nest-commander';
import { BaseCommand, type Commander, print } from '#libs/command-line';

/**
 * The words of a command line after `petstore`, each with a space before the word, and the words that may follow. For
 * example, the plans may follow ` clients create --plan`.
 */
type Completion = [words: string, next: readonly string[]];

/**
 * Placeholder in the list of possible next words. It stands for the names of all clients. When a user completes a word, the
 * completion script replaces the placeholder by the names, which LIST_CLIENTS prints.
 */
const CLIENT_NAMES = '@clients';

const LIST_CLIENTS = `petstore clients list --json 2>/dev/null | grep -o '"name":"[^"]*' | cut -d'"' -f4`;

function completionsOf(command: Commander, words = ''): Completion[] {
  const below = command.commands.map((one) => one.name());
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  const options = command.options.flatMap(({ hidden, long }) => (hidden ? [] : long!));
  const isOfClient = command.registeredArguments[0]?.name() === 'client';
  const ofOptions = command.options.map(({ long, argChoices }): Completion => {
    return [`${words} ${long}`, long === '--client' ? [CLIENT_NAMES] : (argChoices ?? [])];
  });
  return [
    [words, [...below, ...values, ...(isOfClient ? [CLIENT_NAMES] : []), ...options, '--help']],
    ...ofOptions.filter(([, next]) => next.length > 0),
    ...command.commands.flatMap((one) => completionsOf(one, `${words} ${one.name()}`)),
  ];
}

/** Returns the completion script for bash, which zsh runs as well. */
function bash(completions: Completion[]): string {
  return `_petstore_next() {
  case "$1" in
${completions.map(([words, next]) => `    '${words}') echo '${next.join(' ')}' ;;`).join('\n')}
    *) return 1 ;;
  esac
}
_petstore_clients() {
  ${LIST_CLIENTS}
}
_petstore() {
  local word command='' next="$(_petstore_next '')"
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    if next="$(_petstore_next "$command $word")"; then
      case "$word" in -*) ;; *) command="$command $word" ;; esac
    else
      next="$(_petstore_next "$command")"
    fi
  done
  case "$next" in *'${CLIENT_NAMES}'*) next="\${next/'${CLIENT_NAMES}'/$(_petstore_clients)}" ;; esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _petstore petstore`;
}

function zsh(completions: Completion[]): string {
  return `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U bashcompinit && bashcompinit
${bash(completions)}`;
}

function fish(completions: Completion[]): string {
  return `function __petstore_next
  switch "$argv"
${completions.map(([words, next]) => `    case '${words}'\n      printf '%s\\n' ${next.join(' ')}`).join('\n')}
    case '*'
      return 1
  end
end
function __petstore
  set -l command ''
  set -l next (__petstore_next '')
  for word in (commandline -opc)[2..]
    if set next (__petstore_next "$command $word")
      string match -q -- '-*' $word; or set command "$command $word"
    else
      set next (__petstore_next "$command")
    end
  end
  if contains -- '${CLIENT_NAMES}' $next
    ${LIST_CLIENTS}
  end
  string match -v -- '${CLIENT_NAMES}' $next
end
complete -c petstore -f -a '(__petstore)'
complete -c petstore -n '__fish_seen_subcommand_from import export' -F`;
}

const SCRIPTS = { bash, zsh, fish };

@Command({
  name: 'completion',
  description: 'print a script that completes commands and options of petstore in a shell',
})
export class CompletionCommand extends BaseCommand {
  readonly examples = [
    'completion bash > ~/.local/share/bash-completion/completions/petstore',
    'completion zsh >> ~/.zshrc',
    'completion fish > ~/.config/fish/completions/petstore.fish',
  ];
  readonly takesJson = false;

  declare(command: Commander): void {
    command.addArgument(
      command.createArgument('<shell>', 'shell that runs the script').choices(Object.keys(SCRIPTS)),
    );
  }

  protected async execute(shell: keyof typeof SCRIPTS): Promise<void> {
    print(SCRIPTS[shell](completionsOf(this.command.parent!)));
  }
}
