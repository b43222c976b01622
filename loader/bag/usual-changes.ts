/** Reads the changes of a nummeraanduiding that are written exactly as Kadaster writes them (decision 0110). */

import type { Fields } from './interpret-stand.ts';
import { type Content, objects } from './schema.ts';

/** A change as its fields; without `was` it is a toevoeging. */
export type UsualChange = { was: Fields | undefined; wordt: Fields };

/** Printable ASCII without the special characters of XML. */
const plain = "[ -%'-;=?-~]*";
const escaped = `${plain}(?:&(?:amp|lt|gt);${plain})*`;
const element = (name: string, content: string, attribute = '') => `<${name}${attribute}>${content}</${name}>`;

/** The local names of the texts that a pattern captures, in order. Groups with names would take twice the time. */
const captured: string[] = [];

/** Some elements in their order, each at most once. */
function pattern(contents: Content): string {
  const expressions = Object.entries(contents).map(([name, content]: [string, Content]) => {
    if (content === 'skipped') return element(name, escaped);
    if (content !== 'text') return element(name, pattern(content));
    captured.push(name.slice(name.indexOf(':') + 1));
    return element(name, `(${plain})`, '(?: domein="[A-Za-z.]+")?');
  });
  return expressions.map((expression) => `(?:${expression})?`).join('');
}

const nummeraanduiding = 'Objecten:Nummeraanduiding';
const objectXml = element(nummeraanduiding, pattern(objects.NUM[nummeraanduiding]));
const object = new RegExp(element('mlm:bagObject', objectXml), 'g');
/** Stands for an object in the markup around it; not a byte, so no file has it. */
const mark = '\u2026';
const [was, wordt] = [element('ml:was', mark), element('ml:wordt', mark)];
const changed = `${element('ml:wijziging', was + wordt)}|${element('ml:toevoeging', wordt)}`;
const usualGroup = new RegExp(`^${element('ml:mutatieGroep', `(?:${changed})+`)}$`);

/** The changes of a group, in order; `null` where only the strict parser can tell what it means. */
export function usualChanges(group: Buffer): UsualChange[] | null {
  const sides: Fields[] = [];
  const markup = group.toString('latin1').replace(object, (...match) => {
    const fields: Fields = {};
    for (const [at, name] of captured.entries()) fields[name] = match[at + 1];
    sides.push(fields);
    return mark;
  });
  if (!usualGroup.test(markup)) return null;
  return Array.from(markup.matchAll(/<ml:(wijziging|toevoeging)>/g), ([, change]) => ({
    was: change === 'wijziging' ? sides.shift() : undefined,
    wordt: sides.shift() as Fields,
  }));
}
