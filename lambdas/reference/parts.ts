import { inline } from './html.ts';

/** A heading that links to itself, so that its address can be copied; `text` is HTML. */
export function heading(level: 2 | 3 | 4, id: string, text: string): string {
  return `<h${level} id="${id}"><a class="anchor" href="#${id}">${text}</a></h${level}>`;
}

/** Code that can be scrolled to with the keyboard and copied; `code` is HTML. */
export function sample(caption: string, code: string, kind = 'sample'): string {
  return `<figure class="sample ${kind}"><figcaption>${caption}</figcaption><pre tabindex="0"><code>${code}</code></pre></figure>\n`;
}

/** Samples of which one is shown, by buttons that work without a script. In print all are shown. */
export function tabs(name: string, legend: string, all: { label: string; html: string }[]): string {
  const inputs = all.map(
    ({ label }, index) =>
      `<input type="radio" name="${name}" id="${name}-${index}"${index === 0 ? ' checked' : ''}><label for="${name}-${index}">${label}</label>`,
  );
  const panels = all.map(({ html }) => `<div class="panel">${html}</div>`);
  return `<fieldset class="tabs"><legend>${legend}</legend>\n${inputs.join('\n')}\n${panels.join('\n')}\n</fieldset>\n`;
}

/** Text, with samples beside it, or below it on a narrow screen. */
export function block(text: string, samples = ''): string {
  return `<div class="block">\n<div class="text">\n${text}\n</div>\n${samples && `<div class="samples">\n${samples}</div>\n`}</div>`;
}

/** A row of a table: its name and its text as HTML, with an address of its own where it has an id. */
export type TableRow = { id?: string; head: string; cell: string };

/** The roles keep it a table on a phone, where each row is shown as lines. */
export function htmlTable([first, second]: [string, string], rows: TableRow[]): string {
  const body = rows.map(({ id, head, cell }) => {
    const name = id ? `<a class="anchor" href="#${id}">${head}</a>` : head;
    return `<tr role="row"${id ? ` id="${id}"` : ''}><th role="rowheader" scope="row">${name}</th><td role="cell">${cell}</td></tr>`;
  });
  return `<table role="table">
<thead role="rowgroup"><tr role="row"><th role="columnheader" scope="col">${first}</th><th role="columnheader" scope="col">${second}</th></tr></thead>
<tbody role="rowgroup">
${body.join('\n')}
</tbody>
</table>`;
}

/** The members of a response, by name. */
export function members(titles: [string, string], rows: Record<string, string>): string {
  return htmlTable(
    titles,
    Object.entries(rows).map(([name, text]) => ({ head: `<code>${name}</code>`, cell: inline(text) })),
  );
}

/** The end of the address of a problem or a code of a 422 on the page: `/docs#error-missing`. */
export function errorId(code: string): string {
  return `error-${code}`;
}
