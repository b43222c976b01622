import { html } from 'hono/html';
import { type FormRequest, field, hidden as hiddenField } from './form-fields.ts';
import { type Html, scrollTable, type TableColumn } from './table.ts';

/** The page that a list is on: its address, and the words and numbers of its language. */
export type ListPage = FormRequest & {
  path: string;
  query: Readonly<Record<string, string>>;
  text: Readonly<
    Record<'show' | 'hide' | 'search' | 'sortBy' | 'noneFound', string> & {
      paging: Readonly<Record<'pages' | 'previous' | 'next' | 'first', string>>;
      rowsOf: (from: string, to: string, all: string) => string;
    }
  >;
  format: { number: (value: number) => string };
};

export type Column<T> = {
  /** Names the column in the address of a page that is sorted by it. */
  name: string;
  label: string;
  isNumber?: boolean;
  place?: TableColumn['place'];
  show: (row: T) => Html;
  /** The sort key; a column without it can't be sorted. */
  sort?: (row: T) => string;
};

export type List<T> = {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /**
   * The text that the search field searches, for words in any order; without it the list has no
   * search field.
   */
  words?: (row: T) => string;
  /** A form around the rows, each with a box to choose it, for `chosenIn`. */
  choice?: {
    action: string;
    label: string;
    nameOf: (row: T) => string;
    canChoose: (row: T) => boolean;
  };
  /** Rows that are left out unless somebody asks for them: revoked keys. */
  hidden?: { label: string; isHidden: (row: T) => boolean };
  /** Other parameters to keep in the address, on each page of the list. */
  keeps?: readonly string[];
  /** The text for a list without any rows. */
  none: string;
};

const rowsShown = 20;

const choicePrefix = 'choose-';

/** The names of the rows that were chosen. */
export const chosenIn = (fields: Readonly<Record<string, string>>): string[] =>
  Object.keys(fields).flatMap((name) =>
    name.startsWith(choicePrefix) ? [name.slice(choicePrefix.length)] : [],
  );

/** Hidden fields that send them again with a form. */
export const chosenFields = (names: readonly string[]): Html =>
  html`${names.map((name) => hiddenField(`${choicePrefix}${name}`, 'yes'))}`;

/**
 * Whether a text has each word of a search, in any order, in letters of either case, with or
 * without accents.
 */
export function hasWords(text: string, search: string): boolean {
  const folded = (given: string) => given.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase();
  const within = folded(text);
  return folded(search)
    .split(/\s+/)
    .every((word) => within.includes(word));
}

/**
 * Rows by page, which can be searched and sorted without JavaScript. The controls appear when there
 * is something to control.
 */
export function listOf<T>(
  request: ListPage,
  { caption, columns, rows, words, choice, hidden, keeps = [], none }: List<T>,
): Html {
  const { path, query, text, format } = request;
  if (rows.length === 0) return html`<p>${none}</p>`;
  const search = (query.q ?? '').trim();
  const showsAll = hidden !== undefined && query.all === 'yes';
  const sorted = columns.find(({ name, sort }) => sort && name === query.sort);
  const isDown = query.order === 'down';

  const shown = rows
    .filter((row) => showsAll || !hidden?.isHidden(row))
    .filter((row) => !words || hasWords(words(row), search));
  const sort = sorted?.sort;
  if (sort) shown.sort((a, b) => (isDown ? -1 : 1) * sort(a).localeCompare(sort(b)));
  const pages = Math.max(1, Math.ceil(shown.length / rowsShown));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(query.page ?? 1)) || 1));
  const part = shown.slice((page - 1) * rowsShown, page * rowsShown);

  const address = (changes: Record<string, string | undefined>): string => {
    const kept = Object.fromEntries(keeps.map((name) => [name, query[name] || undefined]));
    const now = { ...kept, q: search || undefined, all: showsAll ? 'yes' : undefined };
    const order = { sort: sorted?.name, order: sorted && isDown ? 'down' : undefined };
    const given = Object.entries({ ...now, ...order, ...changes }).filter(
      ([, value]) => value !== undefined,
    );
    return `${path}?${new URLSearchParams(given as [string, string][]).toString()}`;
  };
  const head = columns.map(({ name, label, isNumber, place, sort }): TableColumn => {
    if (!sort || rows.length < 2) return { label, isNumber, place };
    const isThis = sorted?.name === name;
    const next = isThis && !isDown ? 'down' : undefined;
    const mark = isThis ? (isDown ? ' ↓' : ' ↑') : '';
    const content = html`<a href="${address({ sort: name, order: next })}">${label}${mark}</a>`;
    return {
      label,
      content,
      isNumber,
      place,
      sorted: isThis ? (isDown ? 'descending' : 'ascending') : undefined,
    };
  });
  const isChoice = choice && part.filter(choice.canChoose).length > 1;
  const box = (row: T): Html => {
    if (!isChoice || !choice.canChoose(row)) return '';
    const name = choice.nameOf(row);
    return html`<input type="checkbox" name="${choicePrefix}${name}" value="yes" aria-label="${choice.label}: ${name}"> `;
  };
  const cells = part.map((row) =>
    columns.map(({ show }, i) => html`${i === 0 ? box(row) : ''}${show(row)}`),
  );
  const table =
    part.length > 0
      ? scrollTable(caption, head, cells, text.sortBy)
      : html`<p>${text.noneFound}</p>`;
  const body = isChoice
    ? html`<form method="get" action="${choice.action}">${table}<p class="actions"><button class="button plain">${choice.label}</button></p></form>`
    : table;
  const hiddenCount = hidden ? rows.filter(hidden.isHidden).length : 0;
  const toggle = html`<p class="actions"><a href="${address({ all: showsAll ? undefined : 'yes' })}">${showsAll ? text.hide : text.show} ${hidden?.label} (${format.number(hiddenCount)})</a></p>`;
  const from = (page - 1) * rowsShown + 1;
  const to = (page - 1) * rowsShown + part.length;
  const range = text.rowsOf(format.number(from), format.number(to), format.number(shown.length));
  const pager = html`<nav aria-label="${caption}: ${text.paging.pages}" class="actions"><span>${range}</span>${page > 1 ? html`<a href="${address({ page: String(page - 1) })}">${text.paging.previous}</a>` : ''}${page < pages ? html`<a href="${address({ page: String(page + 1) })}">${text.paging.next}</a>` : ''}</nav>`;
  const hasSearch = words !== undefined && (rows.length > rowsShown || search !== '');
  const fields = html`${field(request, { name: 'q', label: text.search, type: 'search', value: search })}${showsAll ? hiddenField('all', 'yes') : ''}`;
  return html`${hasSearch ? searchForm(path, fields, text.search) : ''}${body}${hiddenCount > 0 ? toggle : ''}${pages > 1 ? pager : ''}`;
}

/** A form that searches a list; its button says so. */
export function searchForm(action: string, fields: Html, label: string): Html {
  return html`<form method="get" action="${action}" role="search" class="search">${fields}<button class="button">${label}</button></form>`;
}

/**
 * Links to the first and the next page of a list with a cursor, in the parameter `name` of a query.
 */
export function pager(
  { text, path, query }: Pick<ListPage, 'text' | 'path' | 'query'>,
  {
    name,
    cursor,
    at = '',
    keeps = [],
  }: { name: string; cursor: string | null; at?: string; keeps?: readonly string[] },
): Html {
  const address = (given: Record<string, string>) => {
    const kept = keeps.flatMap((name) => (query[name] ? [[name, query[name]]] : []));
    const all = new URLSearchParams({ ...Object.fromEntries(kept), ...given }).toString();
    return `${path}${all && `?${all}`}${at}`;
  };
  const first = query[name] ? html`<a href="${address({})}">${text.paging.first}</a>` : '';
  const next = cursor ? html`<a href="${address({ [name]: cursor })}">${text.paging.next}</a>` : '';
  return first || next ? html`<p class="actions">${first}${next}</p>` : '';
}
