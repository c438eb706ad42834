import { Command } from 'nest-commander';
import { type Commander, PetstoreCommand } from './command/command';
import { print } from './command/output';

/** What may follow the words of a command, ` keys` for instance, or an option of it that takes one of a few values. */
interface Place {
  words: string;
  next: readonly string[];
}

function placesOf(command: Commander, words = ''): Place[] {
  const below = command.commands.map((one) => one.name());
  const options = command.options.map(({ long }) => long!);
  const values = command.registeredArguments.flatMap(({ argChoices = [] }) => argChoices);
  return [
    { words, next: [...below, ...values, ...options, '--help'] },
    ...command.commands.flatMap((one) => placesOf(one, `${words} ${one.name()}`)),
  ];
}

function valuesOf(command: Commander, words = ''): Place[] {
  return [
    ...command.options.flatMap(({ long, argChoices }) =>
      argChoices ? [{ words: `${words} ${long}`, next: argChoices }] : [],
    ),
    ...command.commands.flatMap((one) => valuesOf(one, `${words} ${one.name()}`)),
  ];
}

const quoted = ({ words }: Place) => `'${words}'`;

/**
 * Arguments of commands are skipped, so that options are offered after them, too. `$((…))`, because zsh takes a letter after a
 * colon for a modifier.
 */
function bash(program: Commander): string {
  const places = placesOf(program);
  const caseOf = (place: Place) => `    ${quoted(place)}) next='${place.next.join(' ')}' ;;`;
  return `_petstore() {
  local word at='' next=''
  for word in "\${COMP_WORDS[@]:1:$((COMP_CWORD - 1))}"; do
    case "$at $word" in ${places.slice(1).map(quoted).join('|')}) at="$at $word" ;; esac
  done
  case "$at" in
${places.map(caseOf).join('\n')}
  esac
  case "$at $word" in
${valuesOf(program).map(caseOf).join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "\${COMP_WORDS[COMP_CWORD]}"))
}
complete -o default -F _petstore petstore`;
}

function zsh(program: Commander): string {
  return `(( $+functions[compdef] )) || { autoload -U compinit && compinit; }
autoload -U bashcompinit && bashcompinit
${bash(program)}`;
}

function fish(program: Commander): string {
  const places = placesOf(program);
  const caseOf = (place: Place) => `    case ${quoted(place)}\n      printf '%s\\n' ${place.next.join(' ')}`;
  return `function __petstore_next
  set -l at ''
  for word in (commandline -opc)[2..]
    if contains -- "$at $word" ${places.slice(1).map(quoted).join(' ')}
      set at "$at $word"
    end
  end
  switch "$at $word"
${valuesOf(program).map(caseOf).join('\n')}
    case '*'
      switch "$at"
${places.map(caseOf).join('\n')}
      end
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
    print(SCRIPTS[shell](this.command.parent!));
  }
}
