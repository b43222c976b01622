import { readFileSync } from 'node:fs';

/** A query of the runbook. `about` is the list item before it, which says whose log it is for. */
export type RunbookQuery = { chapter: string; about: string; name: string; query: string };

/**
 * The code blocks of the runbook without a language are queries, each with its name in the first line: `# Outcomes`.
 */
export function runbookQueries(): RunbookQuery[] {
  const queries: RunbookQuery[] = [];
  let chapter = '';
  let about = '';
  let block: { language: string; lines: string[] } | undefined;
  for (const line of readFileSync('docs/runbook.md', 'utf8').split('\n')) {
    const [, fence] = /^\s*```(\w*)/.exec(line) ?? [];
    if (fence !== undefined) {
      if (block?.language === '') {
        const [name = '', ...query] = block.lines;
        queries.push({ chapter, about, name: name.replace(/^# /, ''), query: query.join(' ') });
      }
      block = block ? undefined : { language: fence, lines: [] };
    } else if (block) block.lines.push(line.trim());
    else if (line.startsWith('## ')) chapter = line.slice(3);
    else about = /^(?:\d\.|-) /.test(line) ? line : `${about} ${line.trim()}`;
  }
  return queries;
}
