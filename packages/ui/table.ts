import { html } from 'hono/html';

export type Html = ReturnType<typeof html> | string;

export type TableColumn = {
  label: string;
  content?: Html;
  isNumber?: boolean | undefined;
  sorted?: string | undefined;
  /**
   * On a phone: at the end of the first line of its row, nowhere, as on a small window, or without
   * its label.
   */
  place?: 'aside' | 'minor' | 'plain' | undefined;
};

/**
 * A table that scrolls separately from the page, also with the keyboard. On a phone each row of a
 * wide one is two lines: the first cell with the one `aside`, and the others, each after the label
 * of its column. There `sortBy` stands before the heads that sort it.
 */
export function scrollTable(
  caption: string,
  head: readonly (string | TableColumn)[],
  rows: readonly Html[][],
  sortBy = '',
): Html {
  const columns = head.map(
    (column): TableColumn => (typeof column === 'string' ? { label: column } : column),
  );
  const classes = columns.map(({ isNumber, place }) => {
    const names = [...(isNumber ? ['number'] : []), ...(place ? [place] : [])].join(' ');
    return names && html` class="${names}"`;
  });
  const heads = columns.map(
    ({ label, content, sorted }, i) =>
      html`<th scope="col"${classes[i]}${sorted ? html` aria-sort="${sorted}"` : ''}>${content ?? label}</th>`,
  );
  const cellsOf = (row: Html[]) =>
    row.map(
      (cell, i) => html`<td${classes[i]} data-label="${columns[i]?.label}"><div>${cell}</div></td>`,
    );
  return html`<div class="scroll" role="region" tabindex="0" aria-label="${caption}"><table${columns.length > 2 ? html` class="cards"` : ''}>
<caption>${caption}</caption>
<thead><tr${sortBy && html` data-sort="${sortBy}"`}>${heads}</tr></thead>
<tbody>${rows.map((row) => html`<tr>${cellsOf(row)}</tr>`)}</tbody>
</table></div>`;
}

/** A column of numbers; `aside` puts cells at the end of a row's first line on a phone. */
export const numbers = (label: string, place?: TableColumn['place']): TableColumn => ({
  label,
  isNumber: true,
  place,
});
export const aside = (label: string): TableColumn => ({ label, place: 'aside' });

/** Names with their values; `stats` are numbers to see at a glance. */
export function definitionList(
  given: readonly (readonly [name: string, value: Html])[],
  kind: 'stats' | '' = '',
): Html {
  return html`<dl class="${`facts ${kind}`.trim()}">${given.map(([name, value]) => html`<div><dt>${name}</dt><dd>${value}</dd></div>`)}</dl>`;
}
