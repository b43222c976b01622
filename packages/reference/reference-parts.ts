import { inline } from './html.ts';

/** A heading that links to itself, so that its address can be copied; `text` is HTML. */
export function heading(level: 2 | 3 | 4, id: string, text: string): string {
  return `<h${level} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${level}>`;
}

/** Text, with samples beside it, or below it on a narrow screen. */
export function block(text: string, samples = ''): string {
  return `<div class="block">\n<div class="text">\n${text}\n</div>\n${samples && `<div class="samples">\n${samples}</div>\n`}</div>`;
}

/** A row of a table: its name and its text as HTML, with an address of its own if it has an id. */
export type TableRow = { id?: string; head: string; cell: string };

/** The roles keep it a table on a phone, where each row is shown as lines. */
export function htmlTable([first, second]: [string, string], rows: TableRow[]): string {
  const body = rows.map(({ id, head, cell }) => {
    const name = id ? `<a class="anchor" href="#${id}">${head}</a>` : head;
    return `<tr role="row"${id ? ` id="${id}"` : ''}><th role="rowheader" scope="row">${name}</th><td role="cell">${cell}</td></tr>`;
  });
  return `<table class="lines" role="table">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${first}</th><th role="columnheader" scope="col">${second}</th></tr></thead>
<tbody role="rowgroup">
${body.join('\n')}
</tbody>
</table>`;
}

export function members(titles: [string, string], rows: Record<string, string>): string {
  return htmlTable(
    titles,
    Object.entries(rows).map(([name, text]) => ({
      head: `<code>${name}</code>`,
      cell: inline(text),
    })),
  );
}

/** The end of the address of a problem or a code of a 422 on the page: `/docs#error-missing`. */
export function errorId(code: string): string {
  return `error-${code}`;
}
