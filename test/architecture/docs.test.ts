import { existsSync, globSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, normalize } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';

const root = fileURLToPath(new URL('../..', import.meta.url));
const textOf = (file: string) => readFileSync(join(root, file), 'utf8');
const files = globSync(
  [
    '*.md',
    '{bin,core,lib,lambdas,loader,local,operator,packages,portal,test,docs}/**/*.{ts,js,md}',
  ],
  { cwd: root, exclude: ['**/dist/**', '**/node_modules/**'] },
)
  .map(normalize)
  .sort();
const pages = files.filter((file) => file.endsWith('.md'));

const records = files.filter((file) => /^docs\/decisions\/\d{4}-/.test(file)).sort();
const numberOf = (record: string) => record.slice('docs/decisions/'.length).slice(0, 4);
const index = 'docs/decisions/README.md';

/**
 * The numbers of decisions that a text names: "decision 0101", "decisions 0101 and 0102", "(0101)",
 * "[0101](...)".
 */
function decisionsIn(file: string): string[] {
  const inWords =
    /\b(?:decision|record)s?\s+(?:\*\s+|\/\/\s+)?(\d{4}(?:(?:,| and| or)\s+\d{4})*)/gi;
  const inBrackets = file.endsWith('.md')
    ? /\((\d{4}(?:,\s+\d{4})*)\)|\[(\d{4})\]\(/g
    : /\((0\d{3})\)/g;
  return [...textOf(file).matchAll(inWords), ...textOf(file).matchAll(inBrackets)]
    .flatMap(([, list = '', link = '']) => `${list} ${link}`.match(/\b\d{4}\b/g) ?? [])
    .filter((number) => number.startsWith('0'));
}

/** The anchors of a page's headings, as GitHub makes them. */
function anchorsOf(file: string): string[] {
  const prose = textOf(file).replace(/^```[\s\S]*?^```/gm, '');
  return [...prose.matchAll(/^#+ (.+)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replace(/\[([^\]]*)\]\([^)]*\)/g, '$1')
      .replace(/[^\p{L}\p{N}\s_-]/gu, '')
      .replaceAll(' ', '-'),
  );
}

describe('decision records', () => {
  it('exist for every number that code or docs refer to', () => {
    const known = new Set(records.map(numberOf));
    const named = files
      .filter((file) => file !== index)
      .map((file) => [file, decisionsIn(file)] as const);
    const unknown = named.flatMap(([file, numbers]) =>
      numbers
        .filter((number) => !known.has(number))
        .map((number) => `${file}: no decision ${number}, see ${index}`),
    );
    expect(named.flatMap(([, numbers]) => numbers).length).toBeGreaterThan(30);
    expect(unknown).toEqual([]);
  });

  it('have unique numbers', () => {
    const numbers = records.map(numberOf);
    expect(numbers.filter((number, at) => numbers.indexOf(number) !== at)).toEqual([]);
  });

  it('have a title, a status, a date, context, decision and consequences', () => {
    const form =
      /^# (\d{4})\. .+\n\nStatus: (accepted|superseded by \d{4})\nDate: \d{4}-\d\d-\d\d\n\n## Context\n[\s\S]+\n## Decision\n[\s\S]+\n## Consequences\n/;
    expect(records.filter((record) => form.exec(textOf(record))?.[1] !== numberOf(record))).toEqual(
      [],
    );
  });

  it('are all in the index', () => {
    const linked = [...textOf(index).matchAll(/\]\((\d{4}-[^)]+)\)/g)].map(
      ([, name]) => `docs/decisions/${name}`,
    );
    expect(linked.sort()).toEqual(records);
  });
});

describe('links in the docs', () => {
  it('lead to a file or folder of the repository, and to a heading that it has', () => {
    const links = pages.flatMap((page) =>
      [...textOf(page).matchAll(/\]\(([^)\s]+)\)/g)].map(([, to = '']) => ({ page, to })),
    );
    const broken = links.filter(({ page, to }) => {
      if (/^[a-z]+:/.test(to)) return false;
      const [path = '', anchor] = to.split('#');
      const target = path === '' ? page : normalize(join(dirname(page), path));
      if (!existsSync(join(root, target))) return true;
      return (
        anchor !== undefined &&
        statSync(join(root, target)).isFile() &&
        !anchorsOf(target).includes(anchor)
      );
    });
    expect(links.length).toBeGreaterThan(60);
    expect(broken).toEqual([]);
  });
});

describe('a top folder with code', () => {
  const folders = [
    ...new Set(files.flatMap((file) => (/\.ts$/.test(file) ? [file.split('/')[0] ?? ''] : []))),
  ];

  it.each(folders)('%s is on the layout page', (folder) => {
    expect(textOf('docs/layout.md')).toContain(`| [\`${folder}\`](../${folder}) |`);
  });

  it.each(folders.filter((folder) => !['test', 'docs'].includes(folder)))(
    '%s begins with a README, which is short and names its folders',
    (folder) => {
      const readme = textOf(`${folder}/README.md`);
      expect(readme.split('\n').length).toBeLessThan(15);
      const inside = globSync(`${folder}/*/`, { cwd: root }).map(
        (path) => path.split('/').at(-1) ?? '',
      );
      expect(
        inside.filter((name) => !readme.includes(`\`${name}\``) && !readme.includes(`(${name}/`)),
      ).toEqual([]);
    },
  );
});

describe('paths that docs and comments mention', () => {
  it('exist', () => {
    const path =
      /(?<![\w./-])((?:bin|core|lib|lambdas|loader|local|operator|packages|portal|test|tools|docs)\/[\w./-]+(?<!\.d)\.(?:ts|js|md|json|yaml))\b/g;
    const mentioned = files
      .filter((file) => !file.startsWith('test/') && !file.startsWith('docs/releases/'))
      .flatMap((file) => [...textOf(file).matchAll(path)].map(([, to = '']) => ({ file, to })));
    // A path in prose is one from the root, or from the folder that it stands in.
    const missing = mentioned.filter(
      ({ file, to }) =>
        ![root, join(root, dirname(file))].some((from) => existsSync(join(from, to))),
    );
    expect(mentioned.length).toBeGreaterThan(30);
    expect(missing.filter(({ to }) => !to.includes('NAME'))).toEqual([]);
  });
});
