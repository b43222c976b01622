/** The version of the BAG 2.0 schema that this program reads; the namespaces end in it. */
export const schemaVersion = 'v20200601';

const imbag = 'www.kadaster.nl/schemas/lvbag/imbag';

/** The prefixes that the Kadaster uses, and that this program uses for the same namespaces whatever a file calls them. */
export const namespaces = {
  'sl-bag-extract': `http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-lvc/${schemaVersion}`,
  sl: 'http://www.kadaster.nl/schemas/standlevering-generiek/1.0',
  Objecten: `${imbag}/objecten/${schemaVersion}`,
  'Objecten-ref': `${imbag}/objecten-ref/${schemaVersion}`,
  Historie: `${imbag}/historie/${schemaVersion}`,
} as const;

/** What an element may hold: `text`, anything at all (`skipped`), or the named elements. */
export type Content = 'text' | 'skipped' | { [element: string]: Content };

/** The kinds of object that addresses are made of. */
export type ObjectKind = 'NUM' | 'OPR' | 'WPL';

const voorkomen: Content = {
  'Historie:Voorkomen': {
    'Historie:voorkomenidentificatie': 'skipped',
    'Historie:beginGeldigheid': 'text',
    'Historie:eindGeldigheid': 'text',
    'Historie:tijdstipRegistratie': 'skipped',
    'Historie:eindRegistratie': 'skipped',
    'Historie:tijdstipInactief': 'text',
    'Historie:BeschikbaarLV': {
      'Historie:tijdstipRegistratieLV': 'skipped',
      'Historie:tijdstipEindRegistratieLV': 'skipped',
      'Historie:tijdstipInactiefLV': 'text',
      'Historie:tijdstipNietBagLV': 'text',
    },
  },
};

const ofEveryObject: { [element: string]: Content } = {
  'Objecten:identificatie': 'text',
  'Objecten:status': 'text',
  'Objecten:geconstateerd': 'skipped',
  'Objecten:documentdatum': 'skipped',
  'Objecten:documentnummer': 'skipped',
  'Objecten:voorkomen': voorkomen,
};

const ligtIn: Content = { 'Objecten-ref:WoonplaatsRef': 'text' };

const objects: Record<ObjectKind, Content> = {
  NUM: {
    'Objecten:Nummeraanduiding': {
      ...ofEveryObject,
      'Objecten:huisnummer': 'text',
      'Objecten:huisletter': 'text',
      'Objecten:huisnummertoevoeging': 'text',
      'Objecten:postcode': 'text',
      'Objecten:typeAdresseerbaarObject': 'skipped',
      'Objecten:ligtIn': ligtIn,
      'Objecten:ligtAan': { 'Objecten-ref:OpenbareRuimteRef': 'text' },
    },
  },
  OPR: {
    'Objecten:OpenbareRuimte': {
      ...ofEveryObject,
      'Objecten:naam': 'text',
      'Objecten:type': 'skipped',
      'Objecten:ligtIn': ligtIn,
      'Objecten:verkorteNaam': 'skipped',
    },
  },
  WPL: {
    'Objecten:Woonplaats': {
      ...ofEveryObject,
      'Objecten:naam': 'text',
      'Objecten:geometrie': 'skipped',
    },
  },
};

/** The elements of a file of `kind`, as far as they are read: `BagvsExtractDeelbestandExtractLvc-2.1.0.xsd`. */
export function documentOf(kind: ObjectKind): Content {
  return {
    'sl-bag-extract:bagStand': {
      'sl-bag-extract:bagInfo': 'skipped',
      'sl:standBestand': {
        'sl:dataset': 'skipped',
        'sl:inhoud': {
          'sl:gebied': 'skipped',
          'sl:leveringsId': 'skipped',
          'sl:objectTypen': { 'sl:objectType': 'text' },
        },
        'sl:stand': { 'sl-bag-extract:bagObject': objects[kind] },
      },
    },
  };
}
