import { dirname, normalize } from 'node:path';

const link = /\[([^\]]*)\]\(([^)\s#]+)(#[^)\s]*)?\)/g;

/** Whether a link leads to a file beside the page, and to none that `has` knows. */
function isDead(page: string, to: string, has: (file: string) => boolean): boolean {
  return !/^[a-z]+:/.test(to) && !has(normalize(`${dirname(page)}/${to}`));
}

/** The links of a page that lead nowhere. */
export function deadLinks(page: string, text: string, has: (file: string) => boolean): string[] {
  return [...text.matchAll(link)].flatMap(([, , to = '']) =>
    isDead(page, to, has) ? [`${page}: ${to}`] : [],
  );
}

/**
 * The page without links to what only the repository has, the tests for instance: their text stays.
 */
export function withoutDeadLinks(
  page: string,
  text: string,
  has: (file: string) => boolean,
): string {
  return text.replace(link, (whole, words: string, to: string) =>
    isDead(page, to, has) ? words : whole,
  );
}
