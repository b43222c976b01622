import { addressKey } from '../../core/addresses/address-key.ts';
import { toPlace } from '../../loader/addresses/derive.ts';
import { isObjectenKind } from '../../loader/bag/elements.ts';
import {
  fileLabel,
  findMembers,
  listXmlFiles,
  memberAccess,
} from '../../loader/bag/extract-members.ts';
import { readGemeenteRelaties } from '../../loader/bag/gemeente-relaties.ts';
import {
  addProblem,
  emptyReport,
  isProblem,
  type Problem,
  type ProblemReport,
  type ReadCounts,
} from '../../loader/bag/problem-report.ts';
import { readWoonplaatsen, readXml } from '../../loader/bag/read-stands.ts';
import {
  dayOf,
  type Nummeraanduiding,
  type OpenbareRuimte,
  type WoonplaatsInGemeente,
} from '../../loader/bag/voorkomen.ts';
import type { Reference } from '../../loader/register/reference-file.ts';
import { bufferAccess, type RandomAccess } from '../../loader/zip/random-access.ts';
import { entryStream, withEntry } from '../../loader/zip/zip.ts';

/** Everything that reading an extract gives, in memory. */
export type ReadOutcome = {
  peildatum: string;
  voorkomens: Record<'NUM' | 'OPR' | 'WPL', number>;
  current: Record<'NUM' | 'OPR' | 'WPL', number>;
  rows: (AddressRow & { key: string })[];
  problems: ProblemReport;
};

/** Reads a whole small extract the way the loader does, member by member. */
export async function readExtract(zip: Buffer | RandomAccess): Promise<ReadOutcome> {
  const source = Buffer.isBuffer(zip) ? bufferAccess(zip) : zip;
  const label = 'extract.zip';
  const { peildatum, members } = await findMembers(source, label);
  const reference = {
    openbareRuimten: new Map<string, OpenbareRuimte>(),
    woonplaatsen: new Map<string, WoonplaatsInGemeente>(),
  };
  const gemeenten = new Map<string, string>();
  const counts = { NUM: 0, OPR: 0, WPL: 0 };
  const problems = emptyReport();
  const outcome: ReadOutcome = {
    peildatum,
    voorkomens: counts,
    current: { ...counts },
    rows: [],
    problems,
  };

  for (const member of members.toReversed()) {
    const inner = await memberAccess(source, member, label);
    for (const entry of await listXmlFiles(inner, fileLabel(label, member))) {
      const file = fileLabel(label, member, entry);
      const { kind } = member;
      if (kind === 'GEM-WPL-RELATIE') {
        await withEntry(inner, entry, file, (xml) => {
          for (const { woonplaats, gemeente, begin, eind } of readGemeenteRelaties(
            xml,
            file,
            peildatum,
          ).relaties) {
            if (begin <= dayOf(peildatum) && eind > dayOf(peildatum)) {
              gemeenten.set(woonplaats, gemeente);
            }
          }
        });
        continue;
      }
      if (isObjectenKind(kind)) continue;
      const read = {
        WPL: () =>
          readWoonplaatsen(entryStream(inner, entry, file), file, peildatum, (woonplaats) => {
            const gemeente = gemeenten.get(woonplaats.identificatie);
            reference.woonplaatsen.set(woonplaats.identificatie, {
              ...woonplaats,
              ...(gemeente && { gemeente }),
            });
          }),
        OPR: () =>
          withEntry(inner, entry, file, (xml) =>
            readXml.OPR(xml, file, peildatum, (openbareRuimte) => {
              reference.openbareRuimten.set(openbareRuimte.identificatie, openbareRuimte);
            }),
          ),
        NUM: () =>
          withEntry(inner, entry, file, (xml) =>
            readXml.NUM(xml, file, peildatum, (nummeraanduiding) => {
              const row = rowOf(nummeraanduiding, reference, file);
              if (isProblem(row)) addProblem(outcome.problems, row);
              else {
                outcome.rows.push({ ...row, key: keyOf(row) });
              }
            }),
          ),
      };
      const { voorkomens, current, problems }: ReadCounts = await read[kind]();
      outcome.voorkomens[kind] += voorkomens;
      outcome.current[kind] += current;
      for (const problem of problems) addProblem(outcome.problems, problem);
    }
  }
  return outcome;
}

/** One address of the register, with huisletter and huisnummertoevoeging apart. */
type AddressRow = {
  identificatie: string;
  postcode: string;
  huisnummer: number;
  huisletter: string;
  huisnummertoevoeging: string;
  straat: string;
  woonplaats: string;
  gemeente?: string;
};

function rowOf(num: Nummeraanduiding, reference: Reference, file: string): AddressRow | Problem {
  const { postcode, huisnummer, huisletter, huisnummertoevoeging } = num;
  if (postcode === null) return { kind: 'no_postcode', file, identificatie: num.identificatie };
  const place = toPlace(num, reference);
  if ('kind' in place) return { ...place, file, identificatie: num.identificatie };
  return {
    identificatie: num.identificatie,
    postcode,
    huisnummer,
    huisletter,
    huisnummertoevoeging,
    ...place,
  };
}

function keyOf({ postcode, huisnummer, huisletter, huisnummertoevoeging }: AddressRow): string {
  return addressKey({ postcode, huisnummer, toevoeging: huisletter + huisnummertoevoeging });
}
