import { html } from 'hono/html';
import type { Html, Visit } from '../visit/visit.ts';
import { scrollTable } from './parts.ts';

/** A column of a list. */
export type Column<T> = {
  /** In the address of a page that is sorted by it. */
  name: string;
  label: string;
  show: (row: T) => Html;
  /** What it is sorted by; a column without it can't be. */
  sort?: (row: T) => string | number;
  isNumber?: true;
};

export type List<T> = {
  caption: string;
  columns: readonly Column<T>[];
  rows: readonly T[];
  /** What the search field looks in. */
  words: (row: T) => string;
  /** Rows that are left out unless somebody asks for them: revoked keys. */
  hidden?: { label: string; isHidden: (row: T) => boolean };
  /** What the page says when there are no rows at all. */
  none: string;
};

const rowsShown = 20;

/**
 * Rows by page, which can be searched and sorted without JavaScript. The controls appear when there is something to
 * control.
 */
export function listOf<T>(visit: Visit, { caption, columns, rows, words, hidden, none }: List<T>): Html {
  const { c, text, format } = visit;
  if (rows.length === 0) return html`<p>${none}</p>`;
  const search = (c.req.query('q') ?? '').trim();
  const showsAll = hidden === undefined || c.req.query('all') === 'yes';
  const sorted = columns.find(({ name, sort }) => sort && name === c.req.query('sort'));
  const isDown = c.req.query('order') === 'down';

  const shown = rows
    .filter((row) => showsAll || !hidden.isHidden(row))
    .filter((row) => words(row).toLowerCase().includes(search.toLowerCase()));
  const ordered = sorted?.sort ? shown.toSorted(byValue(sorted.sort, isDown)) : shown;
  const pages = Math.max(1, Math.ceil(ordered.length / rowsShown));
  const page = Math.min(pages, Math.max(1, Math.trunc(Number(c.req.query('page') ?? 1)) || 1));
  const part = ordered.slice((page - 1) * rowsShown, page * rowsShown);

  const address = (changes: Record<string, string | undefined>): string => {
    const now = { q: search || undefined, all: hidden && showsAll ? 'yes' : undefined };
    const order = { sort: sorted?.name, order: sorted && isDown ? 'down' : undefined };
    const given = Object.entries({ ...now, ...order, ...changes }).filter(([, value]) => value !== undefined);
    return `${c.req.path}?${new URLSearchParams(given as [string, string][]).toString()}`;
  };
  const heading = ({
    name,
    label,
    sort,
  }: Column<T>): { label: string; content: Html; sorted?: 'ascending' | 'descending' } => {
    if (!sort || rows.length < 2) return { label, content: label };
    const isThis = sorted?.name === name;
    const next = isThis && !isDown ? 'down' : undefined;
    const mark = isThis ? (isDown ? ' ↓' : ' ↑') : '';
    const content = html`<a href="${address({ sort: name, order: next })}">${label}${mark}</a>`;
    return { label, content, ...(isThis && { sorted: isDown ? 'descending' : 'ascending' }) };
  };
  const head = columns.map((column) => ({ ...heading(column), ...(column.isNumber && { isNumber: true as const }) }));
  const table = scrollTable(
    caption,
    head,
    part.map((row) => columns.map(({ show }) => show(row))),
  );
  const hiddenCount = hidden ? rows.filter(hidden.isHidden).length : 0;
  const toggle =
    hidden && hiddenCount > 0
      ? html`<a href="${address({ all: showsAll ? undefined : 'yes' })}">${showsAll ? text.hide : text.show} ${hidden.label} (${format.number(hiddenCount)})</a>`
      : '';
  const from = format.number(ordered.length === 0 ? 0 : (page - 1) * rowsShown + 1);
  const to = format.number(Math.min(ordered.length, page * rowsShown));
  const pager =
    pages > 1
      ? html`<nav aria-label="${caption}: ${text.pages}" class="actions"><span>${text.rowsOf(from, to, format.number(ordered.length))}</span>${page > 1 ? html`<a href="${address({ page: String(page - 1) })}">${text.previous}</a>` : ''}${page < pages ? html`<a href="${address({ page: String(page + 1) })}">${text.next}</a>` : ''}</nav>`
      : '';
  return html`${rows.length > rowsShown || search ? searchForm(visit, search, showsAll && hidden !== undefined) : ''}${part.length > 0 ? table : html`<p>${text.noneFound}</p>`}${toggle ? html`<p class="actions">${toggle}</p>` : ''}${pager}`;
}

function searchForm({ c, text }: Visit, search: string, showsAll: boolean): Html {
  return html`<form method="get" action="${c.req.path}" role="search" class="search"><label for="q">${text.search}</label><input id="q" name="q" type="search" value="${search}" autocomplete="off" spellcheck="false">${showsAll ? html`<input type="hidden" name="all" value="yes">` : ''}<button class="button plain">${text.search}</button></form>`;
}

function byValue<T>(sortValue: (row: T) => string | number, isDown: boolean): (a: T, b: T) => number {
  return (a, b) => {
    const [one, other] = [sortValue(a), sortValue(b)];
    const order =
      typeof one === 'number' && typeof other === 'number' ? one - other : String(one).localeCompare(String(other));
    return isDown ? -order : order;
  };
}
