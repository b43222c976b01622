import type { Command } from 'commander';
import { UsageError } from '../connect/errors.ts';
import type { CliCommand, Result } from './command.ts';

/** `completion`: a script that completes commands and options, for the start-up file of a shell. */
export function addCompletionCommand(program: CliCommand): void {
  program
    .command('completion')
    .description('print a script with which bash, zsh or fish completes commands and options')
    .argument('<shell>', 'bash, zsh or fish')
    .notes(
      `Add one of these to the file that your shell reads at its start. It completes "npx bag-adres" too.
  bash, ~/.bashrc:                   eval "$(npx bag-adres completion bash)"
  zsh, ~/.zshrc, after compinit:     eval "$(npx bag-adres completion zsh)"
  fish, ~/.config/fish/config.fish:  npx bag-adres completion fish | source`,
    )
    .examples('completion bash')
    .does((shell: string): Result => {
      const script = scripts[shell];
      if (!script)
        throw new UsageError(`There is a script for ${Object.keys(scripts).join(', ')}, not for "${shell}".`);
      const text = script(wordsByPath(program));
      return { json: { shell, script: text }, text, isVerbatim: true };
    });
}

/** What may come after the words of a command, by those words: `account create` has its options. */
type WordsByPath = ReadonlyMap<string, readonly string[]>;

function wordsByPath(program: Command): WordsByPath {
  const found = new Map<string, string[]>();
  const visit = (command: Command, path: string) => {
    const options = command.options.flatMap(({ long }) => (long ? [long] : []));
    found.set(path, [...command.commands.map((one) => one.name()), ...options, '--help']);
    for (const one of command.commands) visit(one, `${path} ${one.name()}`.trim());
  };
  visit(program, '');
  return found;
}

const scripts: Readonly<Record<string, (words: WordsByPath) => string>> = {
  bash: inBash,
  // Its own way to run a completion that was written for bash.
  zsh: (words) => `autoload -U +X bashcompinit && bashcompinit\n${inBash(words)}`,
  fish: inFish,
};

/** A function for both names, as people type it through npx and scripts in `package.json` do not. */
function inBash(words: WordsByPath): string {
  const cases = [...words].map(([path, next]) => `    '${path}') next='${next.join(' ')}' ;;`);
  const paths = [...words.keys()].filter((path) => path !== '').map((path) => `'${path}'`);
  return `_bag_adres() {
  local current="\${COMP_WORDS[COMP_CWORD]}" path='' next='' word i=1
  if [ "\${COMP_WORDS[0]}" = npx ]; then
    [ "\${COMP_WORDS[1]}" = bag-adres ] && [ "$COMP_CWORD" -gt 1 ] || return 0
    i=2
  fi
  for (( ; i < COMP_CWORD; i++ )); do
    word="\${path:+$path }\${COMP_WORDS[i]}"
    case "$word" in
      ${paths.join('|')}) path="$word" ;;
    esac
  done
  case "$path" in
${cases.join('\n')}
  esac
  COMPREPLY=($(compgen -W "$next" -- "$current"))
}
complete -o default -F _bag_adres bag-adres npx`;
}

function inFish(words: WordsByPath): string {
  const paths = [...words.keys()].filter((path) => path !== '').map((path) => `'${path}'`);
  const lines = [...words].map(([path, next]) => {
    const at = `test (__bag_adres_path) = '/${path}'`;
    return `complete -c bag-adres -c npx -n "${at}" -a '${next.join(' ')}'`;
  });
  return `function __bag_adres_path
  set -l words (commandline -opc)
  if test "$words[1]" = npx
    set -e words[1]
  end
  test "$words[1]" = bag-adres; or begin
    echo none
    return
  end
  set -l path ''
  for word in $words[2..-1]
    set -l longer (string trim "$path $word")
    contains -- $longer ${paths.join(' ')}; and set path $longer
  end
  echo "/$path"
end
${lines.join('\n')}`;
}
