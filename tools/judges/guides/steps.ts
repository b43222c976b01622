import { type Documented, documentedCommands } from '../../rehearsal/documented-commands.ts';

/** A piece of shell that a page shows, or settings that it shows for bag-adres.json. */
export type Step = Documented & {
  isSettings: boolean;
  /** How many of its commands are left out, because the page says so. */
  leftOut: number;
};

/** The chapters of a page from one heading on and before another one. */
export type Chapters = { page: string; from?: string; before?: string };

/**
 * The paragraph in which a page lists what the judge leaves out, because no emulator can do it:
 * commands by a part of their text, and chapters by a link.
 */
const listParagraph = /^\[The judge of the guides\].*\n(?:.+\n)*/m;

/**
 * What a reader does in some chapters of a page, in the order of the page, without `npm run`, which
 * needs a clone. @throws Error if the page lists what it does not contain
 */
export function stepsOf({ page, from, before }: Chapters, text: string): Step[] {
  const [list = ''] = listParagraph.exec(text) ?? [];
  const unlisted = text.replace(list, list.replace(/`/g, ' '));
  const pieces = [
    ...documentedCommands(page, unlisted)
      .filter(({ shell }) => !shell.startsWith('npm run '))
      .map((piece) => ({ ...piece, isSettings: false })),
    ...settingsOf(page, text),
  ];
  const items = itemsOf(list, text);
  const used = new Set<Item>();
  const steps = pieces.map((piece) => withoutListed(piece, items, used));
  const unused = items.findIndex((item) => !used.has(item));
  if (unused >= 0) throw new Error(`${page}: no command fits part ${unused + 1} of "${list}"`);
  const begin = from === undefined ? 0 : lineOf(text, from);
  const end = before === undefined ? Number.POSITIVE_INFINITY : lineOf(text, before);
  return steps
    .filter((step) => numberOf(step) >= begin && numberOf(step) < end)
    .sort((a, b) => numberOf(a) - numberOf(b));
}

type Piece = Omit<Step, 'leftOut'>;

function settingsOf(page: string, text: string): Piece[] {
  return [...text.matchAll(/^```json\n("[\s\S]*?)^```$/gm)].map(({ 1: shell = '', index }) => {
    const where = `${page}:${text.slice(0, index).split('\n').length + 1}`;
    return { where, shell, isSettings: true };
  });
}

/** Whether a part of the list means a command of a piece. */
type Item = (command: string, piece: Piece) => boolean;

function itemsOf(list: string, text: string): Item[] {
  const codes = [...list.matchAll(/`([^`]+)`/g)].map(
    ([, code = '']): Item =>
      (command) =>
        command.includes(code),
  );
  const chapters = [...list.matchAll(/\]\(#([^)]+)\)/g)].map(([, anchor = '']): Item => {
    const [start, end] = chapterOf(text, anchor);
    return (_, piece) => numberOf(piece) > start && numberOf(piece) < end;
  });
  return [...codes, ...chapters];
}

/** A piece without the commands that some items mean, which are added to `used`. */
function withoutListed(piece: Piece, items: readonly Item[], used: Set<Item>): Step {
  const { shell, isSettings } = piece;
  const lines = isSettings ? [shell] : shell.split(/(?<!\\)\n/);
  const commands = lines.filter((command) => command.trim() !== '');
  const kept = commands.filter((command) => {
    const fitting = items.filter((item) => item(command, piece));
    for (const item of fitting) used.add(item);
    return fitting.length === 0;
  });
  return { ...piece, shell: kept.join('\n'), leftOut: commands.length - kept.length };
}

/** The lines of the heading of a chapter and of the next one of its level or above. */
function chapterOf(text: string, anchor: string): [start: number, end: number] {
  const prose = text.replace(/^ *```[\s\S]*?^ *```$/gm, (block) => block.replace(/[^\n]/g, ''));
  const headings = prose.split('\n').flatMap((line, index) => {
    const [, level = '', title = ''] = /^(#+) (.*)/.exec(line) ?? [];
    return level ? [{ line: index + 1, level: level.length, title }] : [];
  });
  const at = headings.findIndex(({ title }) => anchorOf(title) === anchor);
  const start = headings[at];
  if (!start) throw new Error(`There is no chapter "${anchor}".`);
  const next = headings.slice(at + 1).find(({ level }) => level <= start.level);
  return [start.line, next?.line ?? Number.POSITIVE_INFINITY];
}

const anchorOf = (title: string) =>
  title
    .toLowerCase()
    .replace(/[^\w -]/g, '')
    .replaceAll(' ', '-');

const lineOf = (text: string, heading: string) => chapterOf(text, anchorOf(heading))[0];

const numberOf = ({ where }: Documented) => Number(where.slice(where.lastIndexOf(':') + 1));
