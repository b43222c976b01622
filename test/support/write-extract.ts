import { buffer } from 'node:stream/consumers';
import { ZipFile } from 'yazl';
import { objectenKinds, type StandKind } from '../../loader/bag/elements.ts';
import {
  deliveryXml,
  fileXml,
  type RelatieStand,
  relatiesXml,
  type StandOf,
  type Voorkomens,
} from './stand-xml.ts';

/** How an extract is packed. By default like Kadaster's extract of the whole country. */
export type Packing = {
  /** The extract of a municipality has one more level of zip. */
  layout?: 'national' | 'municipality';
  /** Whether the inner zips are compressed again. */
  inner?: 'stored' | 'deflated';
  /** Occurrences per XML file. */
  perFile?: number;
  zip64?: boolean;
  /**
   * Entries to add to the outer zip, before all others, or in place of the one with the same name.
   */
  extra?: Record<string, Buffer>;
  /** Entries to add to each inner zip, before all others. */
  extraInside?: Record<string, Buffer>;
  /** Reverses the order of the entries of the outer zip. */
  reversed?: boolean;
};

const addressKinds = ['NUM', 'OPR', 'WPL'] as const;

type Entry = { name: string; bytes: Buffer; compress: boolean };

/**
 * A zip in Kadaster's layout, with the given occurrences. For small extracts: everything is held in
 * memory.
 */
export async function writeExtract(
  peildatum: string,
  voorkomens: Voorkomens,
  packing: Packing = {},
): Promise<Buffer> {
  const date = dateInName(peildatum);
  const owner = packing.layout === 'municipality' ? '0457' : '9999';
  const compress = packing.inner === 'deflated';
  const kinds = [...addressKinds, ...objectenKinds.filter((kind) => voorkomens[kind])];
  const members = await Promise.all(
    kinds.map(async (kind) => {
      const bytes = await memberZip(
        kind,
        voorkomens[kind] ?? [],
        peildatum,
        `${owner}${kind}${date}`,
        packing,
      );
      return { name: `${owner}${kind}${date}.zip`, bytes, compress };
    }),
  );
  const objects =
    packing.layout === 'municipality'
      ? [{ name: `${owner}GEM${date}.zip`, bytes: await writeZip(members, packing), compress }]
      : members;
  const delivery = {
    name: 'Leveringsdocument-BAG-Extract.xml',
    bytes: Buffer.from(deliveryXml(peildatum, owner === '9999' ? null : owner)),
  };
  const relaties = voorkomens.relaties
    ? [await relatieZip(voorkomens.relaties, peildatum, compress)]
    : [];
  const regular = [{ ...delivery, compress: true }, ...objects, ...relaties].filter(
    ({ name }) => !(name in (packing.extra ?? {})),
  );
  const entries = [...extras(packing.extra), ...regular];
  return writeZip(packing.reversed ? entries.reverse() : entries, packing);
}

function memberZip<K extends StandKind>(
  kind: K,
  voorkomens: readonly StandOf<K>[],
  peildatum: string,
  name: string,
  packing: Packing,
): Promise<Buffer> {
  const perFile = packing.perFile ?? 10_000;
  const files = Array.from(
    { length: Math.max(1, Math.ceil(voorkomens.length / perFile)) },
    (_, i) => {
      const xml = fileXml(kind, voorkomens.slice(i * perFile, (i + 1) * perFile), peildatum);
      return {
        name: `${name}-${String(i + 1).padStart(6, '0')}.xml`,
        bytes: Buffer.from(xml),
        compress: true,
      };
    },
  );
  return writeZip([...extras(packing.extraInside), ...files], packing);
}

/** The zip of relations that is in every delivery. */
export async function relatieZip(
  relaties: readonly RelatieStand[],
  peildatum: string,
  compress: boolean,
): Promise<Entry> {
  const name = `GEM-WPL-RELATIE-${dateInName(peildatum)}`;
  const file = {
    name: `${name}-000001.xml`,
    bytes: Buffer.from(relatiesXml(relaties, peildatum)),
    compress: true,
  };
  return { name: `${name}.zip`, bytes: await writeZip([file]), compress };
}

/** `15102021` of `2021-10-15`, as in the names of files. */
export function dateInName(date: string): string {
  return `${date.slice(8)}${date.slice(5, 7)}${date.slice(0, 4)}`;
}

function extras(entries: Record<string, Buffer> = {}): Entry[] {
  return Object.entries(entries).map(([name, bytes]) => ({ name, bytes, compress: true }));
}

/** A zip of these entries, with the same bytes every time. */
export async function writeZip(entries: Entry[], { zip64 = false }: Packing = {}): Promise<Buffer> {
  const zip = new ZipFile();
  for (const { name, bytes, compress } of entries) {
    const options = { mtime: new Date(2026, 0, 1), compress, forceZip64Format: zip64 };
    if (name.endsWith('/')) zip.addEmptyDirectory(name, { mtime: options.mtime });
    else {
      zip.addBuffer(bytes, name, options);
    }
  }
  zip.end({ forceZip64Format: zip64, comment: '' });
  return buffer(zip.outputStream);
}
