/** A piece of shell in a document, and where it is. */
export type Documented = { where: string; shell: string };

/** Those that begin a command in running text. Without `cdk`: there it names the program, and blocks run it by npx. */
const programs = ['npm', 'npx', 'aws', 'git', 'node', 'curl'];
const isCommand = (text: string) => programs.some((program) => text.startsWith(`${program} `));

/**
 * The commands of a Markdown document in reading order: blocks marked `sh`, the commands in blocks without a language, and
 * commands in running text. A block stays one piece, since its lines share variables and functions.
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
      else prose.text += `${line}\n`;
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

function commandsOf(file: string, block: { line: number; language: string; lines: string[] }): Documented[] {
  const { line, language, lines } = block;
  if (language === 'sh') return [{ where: `${file}:${line}`, shell: lines.join('\n') }];
  if (language !== '') return [];
  return lines.flatMap((text, index) =>
    isCommand(text.trim()) ? [{ where: `${file}:${line + index}`, shell: text.trim() }] : [],
  );
}
