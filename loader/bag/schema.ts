import { SaxesParser } from 'saxes';
import { ExtractError } from '../extract-error.ts';

/** The version of the BAG 2.0 schema that this program reads, as in its namespaces. */
export const schemaVersion = 'v20200601';

const imbag = 'www.kadaster.nl/schemas/lvbag/imbag';

/** Kadaster's prefixes, which this program uses for these namespaces whatever prefixes a file has. */
export const namespaces = {
  'sl-bag-extract': `http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-lvc/${schemaVersion}`,
  sl: 'http://www.kadaster.nl/schemas/standlevering-generiek/1.0',
  Objecten: `${imbag}/objecten/${schemaVersion}`,
  'Objecten-ref': `${imbag}/objecten-ref/${schemaVersion}`,
  Historie: `${imbag}/historie/${schemaVersion}`,
} as const;

/** The further prefixes of a file of mutations. */
export const mutationNamespaces = {
  mlm: `http://www.kadaster.nl/schemas/lvbag/extract-deelbestand-mutaties-lvc/${schemaVersion}`,
  ml: 'http://www.kadaster.nl/schemas/mutatielevering-generiek/1.0',
  'selecties-extract': `http://www.kadaster.nl/schemas/lvbag/extract-selecties/${schemaVersion}`,
} as const;

/** What an element may hold: `text`, anything at all (`skipped`), or the named elements. */
export type Content = 'text' | 'skipped' | { [element: string]: Content };

/** The kinds of object that are used for addresses. */
export type ObjectKind = 'NUM' | 'OPR' | 'WPL';

const voorkomen: Content = {
  'Historie:Voorkomen': {
    'Historie:voorkomenidentificatie': 'text',
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
      'sl-bag-extract:bagInfo': {
        'selecties-extract:Gebied-Registratief': 'skipped',
        'selecties-extract:LVC-Extract': { 'selecties-extract:StandTechnischeDatum': 'text' },
      },
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

const toestand: Content = {
  'mlm:bagObject': {
    ...(objects.NUM as object),
    ...(objects.OPR as object),
    ...(objects.WPL as object),
    'Objecten:Verblijfsobject': 'skipped',
    'Objecten:Ligplaats': 'skipped',
    'Objecten:Standplaats': 'skipped',
    'Objecten:Pand': 'skipped',
  },
  'mlm:kenmerkInOnderzoek': 'skipped',
};

/** The elements of a file of mutations, as far as they are read: `BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd`. */
export const mutationDocument: Content = {
  'mlm:bagMutaties': {
    'mlm:bagInfo': {
      'selecties-extract:Gebied-Registratief': 'skipped',
      'selecties-extract:MUT-Extract': {
        'selecties-extract:StandTechnischeDatum': 'text',
        'selecties-extract:Mutatieperiode': {
          'selecties-extract:MutatiedatumVanaf': 'text',
          'selecties-extract:MutatiedatumTot': 'text',
        },
      },
    },
    'ml:mutatieBericht': {
      'ml:dataset': 'skipped',
      'ml:inhoud': 'skipped',
      'ml:mutatieGroep': {
        'ml:toevoeging': { 'ml:wordt': toestand },
        'ml:wijziging': { 'ml:was': toestand, 'ml:wordt': toestand },
        'ml:verwijdering': { 'ml:was': toestand },
      },
    },
  },
};

/** The file in every delivery that describes it. */
export const deliveryFile = 'Leveringsdocument-BAG-Extract.xml';

const levering = `http://www.kadaster.nl/schemas/lvbag/extract-levering/${schemaVersion}`;

/**
 * The snapshot date (StandTechnischeDatum, `2021-10-15`) from a Leveringsdocument.
 * @throws ExtractError for another schema version, by its name, and for a delivery that is not the full history (LVC)
 */
export function readPeildatum(xml: Buffer, file: string): string {
  const path: string[] = [];
  let schema = '';
  let variant = '';
  let peildatum = '';
  const parser = new SaxesParser({ xmlns: true });
  parser.on('opentag', (tag) => {
    if (path.length === 0) schema = tag.uri;
    path.push(tag.local);
    if (path.length === 3 && path[1] === 'SelectieGegevens' && tag.local.endsWith('-Extract')) variant = tag.local;
  });
  parser.on('text', (text) => {
    if (path.length === 4 && path[3] === 'StandTechnischeDatum') peildatum += text;
  });
  parser.on('closetag', () => path.pop());
  try {
    parser.write(xml.toString('utf8')).close();
  } catch (cause) {
    throw new ExtractError('invalid_xml', file, `not well-formed XML (${(cause as Error).message})`, { cause });
  }
  if (schema !== levering) throw unknownSchema(file, schema);
  if (variant === 'MUT-Extract') throw mutationDelivery(file);
  if (variant !== 'LVC-Extract') {
    throw new ExtractError('unknown_schema', file, `a delivery of kind ${variant || 'unknown'}; LVC-Extract is needed`);
  }
  const date = peildatum.trim();
  if (!isDate(date)) {
    throw new ExtractError('missing_peildatum', file, `its StandTechnischeDatum is not a date: '${peildatum}'`);
  }
  return date;
}

/** Whether `text` is a day of the calendar, `2021-10-15`. */
function isDate(text: string): boolean {
  const time = /^\d{4}-\d{2}-\d{2}$/.test(text) ? Date.parse(text) : Number.NaN;
  return !Number.isNaN(time) && new Date(time).toISOString().startsWith(text);
}

/** The error for a file in another version of the schema. */
export function unknownSchema(file: string, schema: string): ExtractError {
  const problem = `in schema '${schema}', not in version ${schemaVersion} of BAG 2.0, the only supported one`;
  return new ExtractError('unknown_schema', file, `${problem}; get the current extract, or update this program`);
}

/** The error for a delivery of mutations. */
export function mutationDelivery(file: string): ExtractError {
  const problem = 'a delivery of mutations; use a full extract (lvbag-extract-nl.zip, BAGNLDL or BAGGEM)';
  return new ExtractError('mutation_delivery', file, problem);
}
