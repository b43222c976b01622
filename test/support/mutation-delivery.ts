import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { objectenKinds, type StandKind } from '../../loader/bag/elements.ts';
import { mutationNamespaces, namespaces, schemaVersion } from '../../loader/bag/schema.ts';
import {
  areaXml,
  attributes,
  imbag,
  lvbag,
  objectXml,
  type RelatieStand,
  type StandOf,
  type Voorkomens,
} from './stand-xml.ts';
import { dateInName, relatieZip, writeZip } from './write-extract.ts';

/** Of the whole country unless a gemeente is named; without `relaties` it has no file of them. */
type DeliveryContents = {
  perFile?: number;
  gemeente?: string | null;
  relaties?: readonly RelatieStand[] | undefined;
};

/**
 * A delivery of mutations as Kadaster makes it: `BAGNLDM-13112021-14112021.zip`. As in the real
 * ones the first XML file is empty, and the members are deflated.
 */
export async function writeMutationDelivery(
  vanaf: string,
  tot: string,
  groups: readonly MutationGroup[],
  { perFile = 10_000, gemeente = null, relaties }: DeliveryContents = {},
): Promise<Buffer> {
  const name = `${gemeente ?? '9999'}MUT${dateInName(vanaf)}-${dateInName(tot)}`;
  const count = 1 + Math.ceil(groups.length / perFile);
  const files = Array.from({ length: count }, (_, i) => {
    const xml = mutationsXml(
      i === 0 ? [] : groups.slice((i - 1) * perFile, i * perFile),
      vanaf,
      tot,
      gemeente,
    );
    return {
      name: `${name}-${String(i + 1).padStart(6, '0')}.xml`,
      bytes: Buffer.from(xml),
      compress: true,
    };
  });
  const inner = await writeZip(files.reverse());
  const document = {
    name: 'Leveringsdocument-BAG-Extract.xml',
    bytes: Buffer.from(mutationDeliveryXml(vanaf, tot, gemeente)),
  };
  return writeZip([
    { ...document, compress: true },
    { name: `${name}.zip`, bytes: inner, compress: true },
    ...(relaties ? [await relatieZip(relaties, tot, true)] : []),
  ]);
}

/** The name of the delivery between two dates. */
export function deliveryName(vanaf: string, tot: string): string {
  return `BAGNLDM-${dateInName(vanaf)}-${dateInName(tot)}.zip`;
}

/**
 * Writes a delivery into a folder, under its own name unless the contents have another. Returns its
 * path.
 */
export async function putDelivery(
  folder: string,
  vanaf: string,
  tot: string,
  groups: readonly MutationGroup[] = [],
  { name = deliveryName(vanaf, tot), ...contents }: { name?: string } & DeliveryContents = {},
): Promise<string> {
  await mkdir(folder, { recursive: true });
  const file = join(folder, name);
  await writeFile(file, await writeMutationDelivery(vanaf, tot, groups, contents));
  return file;
}

type AnyVoorkomen = StandOf<StandKind>;

/** What becomes of one occurrence: `was` is absent for a new one. */
export type VoorkomenChange = { was?: AnyVoorkomen; wordt: AnyVoorkomen };

/** All changes of one object in one file, in their order. */
export type MutationGroup = { kind: StandKind; changes: VoorkomenChange[] };

const kinds = ['NUM', 'OPR', 'WPL', ...objectenKinds] as const;

/**
 * The groups that lead from one state of the register to another one: of each object the
 * occurrences that read otherwise now, then the new ones. An occurrence never disappears from the
 * register.
 */
export function mutationsBetween(before: Voorkomens, after: Voorkomens): MutationGroup[] {
  return kinds.flatMap((kind) => {
    const old = new Map<string, AnyVoorkomen>(
      (before[kind] ?? []).map((voorkomen) => [keyOf(voorkomen), voorkomen]),
    );
    const groups = new Map<string, VoorkomenChange[]>();
    for (const wordt of after[kind] ?? []) {
      const was = old.get(keyOf(wordt));
      old.delete(keyOf(wordt));
      if (was && JSON.stringify(was) === JSON.stringify(wordt)) continue;
      const changes = groups.get(wordt.identificatie) ?? [];
      changes.push(was ? { was, wordt } : { wordt });
      groups.set(wordt.identificatie, changes);
    }
    const [gone] = old.values();
    if (gone) throw new Error(`${kind} ${keyOf(gone)} disappears, which mutations can't say`);
    return [...groups.values()].map((changes) => ({
      kind,
      changes: changes.sort((a, b) => Number(!a.was) - Number(!b.was)),
    }));
  });
}

function keyOf({ identificatie, volgnummer = 1 }: AnyVoorkomen): string {
  return `${identificatie} ${volgnummer}`;
}

/**
 * One XML file of mutations as Kadaster writes it, between two dates; of the whole country unless a
 * gemeente is named.
 */
export function mutationsXml(
  groups: readonly MutationGroup[],
  vanaf: string,
  tot: string,
  gemeente: string | null = null,
): string {
  return `${mutationsHeader(vanaf, tot, gemeente)}${groups.map(groupXml).join('')}\n  </ml:mutatieBericht>\n</mlm:bagMutaties>`;
}

function groupXml({ kind, changes }: MutationGroup): string {
  const write = objectXml[kind] as (voorkomen: AnyVoorkomen) => string;
  const side = (name: 'was' | 'wordt', voorkomen: AnyVoorkomen) =>
    `<ml:${name}><mlm:bagObject>${write(voorkomen)}</mlm:bagObject></ml:${name}>`;
  const xml = changes.map(({ was, wordt }) =>
    was
      ? `<ml:wijziging>${side('was', was)}${side('wordt', wordt)}</ml:wijziging>`
      : `<ml:toevoeging>${side('wordt', wordt)}</ml:toevoeging>`,
  );
  return `<ml:mutatieGroep>${xml.join('')}</ml:mutatieGroep>`;
}

const mutationsAttributes = attributes({
  'xmlns:xsi': 'http://www.w3.org/2001/XMLSchema-instance',
  'xmlns:ml': mutationNamespaces.ml,
  'xmlns:gml': 'http://www.opengis.net/gml/3.2',
  'xmlns:selecties-extract': mutationNamespaces['selecties-extract'],
  'xmlns:mlm': mutationNamespaces.mlm,
  'xmlns:nen5825': `${imbag}/nen5825/${schemaVersion}`,
  'xmlns:KenmerkInOnderzoek': `${imbag}/kenmerkinonderzoek/${schemaVersion}`,
  'xmlns:DatatypenNEN3610': `${imbag}/datatypennen3610/${schemaVersion}`,
  'xmlns:Historie': namespaces.Historie,
  'xmlns:Objecten': namespaces.Objecten,
  'xmlns:Objecten-ref': namespaces['Objecten-ref'],
});

/** The dates of a delivery, as in its XML files and its Leveringsdocument. */
function period(vanaf: string, tot: string): string {
  return `    <selecties-extract:MUT-Extract>
      <selecties-extract:StandTechnischeDatum>${tot}</selecties-extract:StandTechnischeDatum>
      <selecties-extract:Mutatieperiode>
        <selecties-extract:MutatiedatumVanaf>${vanaf}</selecties-extract:MutatiedatumVanaf>
        <selecties-extract:MutatiedatumTot>${tot}</selecties-extract:MutatiedatumTot>
      </selecties-extract:Mutatieperiode>
    </selecties-extract:MUT-Extract>`;
}

function mutationsHeader(vanaf: string, tot: string, gemeente: string | null): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<mlm:bagMutaties${mutationsAttributes}>
  <mlm:bagInfo>
    <selecties-extract:Gebied-Registratief>
      ${areaXml(gemeente)}
    </selecties-extract:Gebied-Registratief>
${period(vanaf, tot)}
  </mlm:bagInfo>
  <ml:mutatieBericht>
    <ml:dataset>LVBAG</ml:dataset>
    <ml:inhoud>
      <ml:gebied>NEDERLAND</ml:gebied>
      <ml:leveringsId>0000000001</ml:leveringsId>
      <ml:objectTypen />
    </ml:inhoud>`;
}

/**
 * The Leveringsdocument of a delivery of mutations, of the whole country unless a gemeente is
 * named.
 */
export function mutationDeliveryXml(
  vanaf: string,
  tot: string,
  gemeente: string | null = null,
): string {
  return `<?xml version="1.0" encoding="UTF-8"?>
<xb:BAG-Extract-Levering xmlns:xb="${lvbag}/extract-levering/${schemaVersion}" xmlns:selecties-extract="${mutationNamespaces['selecties-extract']}">
    <xb:SelectieGegevens>
${period(vanaf, tot)}
        <selecties-extract:Gebied-Registratief>
            ${areaXml(gemeente)}
        </selecties-extract:Gebied-Registratief>
    </xb:SelectieGegevens>
    <xb:SchemaInfo>
        <xb:naam>BagvsExtractDeelbestandMutatieLvc-2.1.0.xsd</xb:naam>
        <xb:versie>${schemaVersion.slice(1)}</xb:versie>
    </xb:SchemaInfo>
</xb:BAG-Extract-Levering>`;
}
