/** Reads the changes of a nummeraanduiding that are written exactly as Kadaster writes them (decision 0177). */

import type { Fields } from './interpret-stand.ts';

/** A change as its fields; without `was` it is a toevoeging. */
export type UsualChange = { was: Fields | undefined; wordt: Fields };

/** Printable ASCII without the special characters of XML. */
const plain = "[ -%'-;=?-~]*";
const escaped = `${plain}(?:&(?:amp|lt|gt);${plain})*`;
const element = (name: string, content: string, attribute = '') => `<${name}${attribute}>${content}</${name}>`;
const kept = (name: string, attribute?: string) =>
  element(name, `(?<${name.slice(name.indexOf(':') + 1)}>${plain})`, attribute);
const skipped = (name: string) => element(name, escaped);
const optional = (xml: string) => `(?:${xml})?`;
const domein = (name: string) => ` domein="NL.IMBAG.${name}"`;

const beschikbaar = element(
  'Historie:BeschikbaarLV',
  kept('Historie:tijdstipRegistratieLV') +
    optional(kept('Historie:tijdstipEindRegistratieLV')) +
    optional(kept('Historie:tijdstipInactiefLV')) +
    optional(kept('Historie:tijdstipNietBagLV')),
);
const voorkomen = element(
  'Historie:Voorkomen',
  kept('Historie:voorkomenidentificatie') +
    kept('Historie:beginGeldigheid') +
    optional(kept('Historie:eindGeldigheid')) +
    skipped('Historie:tijdstipRegistratie') +
    optional(skipped('Historie:eindRegistratie')) +
    optional(kept('Historie:tijdstipInactief')) +
    beschikbaar,
);
const nummeraanduiding = element(
  'Objecten:Nummeraanduiding',
  kept('Objecten:identificatie', domein('Nummeraanduiding')) +
    kept('Objecten:huisnummer') +
    optional(kept('Objecten:huisletter')) +
    optional(kept('Objecten:huisnummertoevoeging')) +
    optional(kept('Objecten:postcode')) +
    skipped('Objecten:typeAdresseerbaarObject') +
    kept('Objecten:status') +
    skipped('Objecten:geconstateerd') +
    skipped('Objecten:documentdatum') +
    skipped('Objecten:documentnummer') +
    optional(element('Objecten:ligtIn', kept('Objecten-ref:WoonplaatsRef', domein('Woonplaats')))) +
    element('Objecten:voorkomen', voorkomen) +
    element('Objecten:ligtAan', kept('Objecten-ref:OpenbareRuimteRef', domein('Openbareruimte'))),
);
const object = new RegExp(element('mlm:bagObject', nummeraanduiding), 'g');
/** Stands for an object in the markup around it; not a byte, so no file has it. */
const mark = '\u2026';
const [was, wordt] = ['ml:was', 'ml:wordt'].map((side) => element(side, mark)) as [string, string];
const changed = `${element('ml:wijziging', was + wordt)}|${element('ml:toevoeging', wordt)}`;
const usualGroup = new RegExp(`^${element('ml:mutatieGroep', `(?:${changed})+`)}$`);

/** The changes of a group, in order; `null` where only the strict parser can tell what it means. */
export function usualChanges(group: Buffer): UsualChange[] | null {
  const sides: Fields[] = [];
  const markup = group.toString('latin1').replace(object, (...match) => {
    sides.push(match.at(-1) as Fields);
    return mark;
  });
  if (!usualGroup.test(markup)) return null;
  return Array.from(markup.matchAll(/<ml:(wijziging|toevoeging)>/g), ([, change]) => ({
    was: change === 'wijziging' ? sides.shift() : undefined,
    wordt: sides.shift() as Fields,
  }));
}
