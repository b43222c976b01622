/** A piece of shell in a document, and where it is. */
export type Documented = { where: string; shell: string };

/**
 * Those that begin a command in running text. Without `cdk`: there it names the program, and blocks
 * run it by npx.
 */
const programs = ['npm', 'npx', 'aws', 'git', 'node', 'curl'];
const isCommand = (text: string) => programs.some((program) => text.startsWith(`${program} `));

/**
 * The commands of a Markdown document in reading order: blocks marked `sh`, the commands in blocks
 * without a language, and commands in running text. A block stays one piece, since its lines share
 * variables and functions.
 */
export function documentedCommands(file: string, text: string): Documented[] {
  const found: Documented[] = [];
  let prose: { line: number; text: string } = { line: 1, text: '' };
  const endProse = () => {
    for (const match of prose.text.matchAll(/(?<!`)`([^`]+)`(?!`)/g)) {
      const shell = `${match[1]}`.replace(/\s*\n\s*/g, ' ');
      const line = prose.line + prose.text.slice(0, match.index).split('\n').length - 1;
      if (isCommand(shell)) found.push({ where: `${file}:${line}`, shell });
    }
  };
  let block: { line: number; language: string; lines: string[] } | undefined;
  for (const [index, line] of text.split('\n').entries()) {
    const [, fence] = /^\s*```(.*)$/.exec(line) ?? [];
    if (fence === undefined) {
      if (block) block.lines.push(line);
      else {
        prose.text += `${line}\n`;
      }
      continue;
    }
    if (!block) {
      endProse();
      block = { line: index + 2, language: fence.trim(), lines: [] };
      continue;
    }
    found.push(...commandsOf(file, block));
    block = undefined;
    prose = { line: index + 2, text: '' };
  }
  endProse();
  return found;
}

function commandsOf(
  file: string,
  block: { line: number; language: string; lines: string[] },
): Documented[] {
  const { line, language, lines } = block;
  if (language === 'sh') return [{ where: `${file}:${line}`, shell: lines.join('\n') }];
  if (language !== '') return [];
  return lines.flatMap((text, index) =>
    isCommand(text.trim()) ? [{ where: `${file}:${line + index}`, shell: text.trim() }] : [],
  );
}

/**
 * The `run` steps of a GitHub workflow, in order. An expression of GitHub, `${{ vars.BASE_URL }}`,
 * has a value by then; the variables of `env` are set before the steps, as they are on GitHub.
 */
export function workflowCommands(file: string, text: string): Documented[] {
  const found: Documented[] = [];
  const lines = text.split('\n');
  const variables = [...text.matchAll(/^\s+([A-Z][A-Z_]+): \S/gm)].map(
    ([, name]) => `${name}=example`,
  );
  const shell = `export ${[...new Set(['GITHUB_OUTPUT=/dev/null', ...variables])].join(' ')}`;
  found.push({ where: `${file}:1`, shell });
  for (const [index, line] of lines.entries()) {
    const [, indent = '', first = ''] = /^(\s*(?:- )?)run: (.*)$/.exec(line) ?? [];
    if (first === '') continue;
    const block = first === '|' ? blockAfter(lines, index, indent.length) : [first];
    found.push({
      where: `${file}:${index + 1}`,
      shell: block.join('\n').replace(/\$\{\{.*?\}\}/g, 'example'),
    });
  }
  return found;
}

/**
 * The lines of a YAML block scalar: those that are indented by more than its key, which is in this
 * column.
 */
function blockAfter(lines: readonly string[], index: number, column: number): string[] {
  const rest = lines.slice(index + 1);
  const end = rest.findIndex((line) => line.trim() !== '' && line.search(/\S/) <= column);
  return rest.slice(0, end < 0 ? undefined : end).map((line) => line.trim());
}
