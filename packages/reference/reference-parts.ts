import { escaped } from '../ui/samples.ts';
import type { BodyMember } from './body-members.ts';
import { inline } from './html.ts';
import type { TranslatedText } from './text/en.ts';

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

/** The words around the members of an answer, and their meanings by key. */
type MemberWords = Pick<TranslatedText, 'membersOf' | 'optional' | 'memberMeanings'>;

/** A list of members. Each object folds out to its own, without a script. */
export function memberList(members: readonly BodyMember[], words: MemberWords): string {
  const items = members.map(({ name, type, isOptional, meanings, members: inner }) => {
    const need = isOptional ? ` <small>${words.optional}</small>` : '';
    const texts = meanings.map(({ key, only }) => {
      const labels = only.map((label) => `<code>${label}</code>`).join(', ');
      return `<br>${labels && `${labels}: `}${inline(words.memberMeanings[key] ?? '')}`;
    });
    const unfolded =
      inner.length === 0
        ? ''
        : `\n<details><summary>${words.membersOf} <code>${name}</code></summary>\n${memberList(inner, words)}</details>`;
    return `<li><code>${name}</code> <small>${escaped(type)}</small>${need}${texts.join('')}${unfolded}</li>`;
  });
  return `<ul class="members">\n${items.join('\n')}\n</ul>\n`;
}

/** The end of the address of a problem or a code of a 422 on the page: `/docs#error-missing`. */
export function errorId(code: string): string {
  return `error-${code}`;
}
