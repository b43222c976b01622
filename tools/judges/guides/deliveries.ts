import { writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { mutationsBetween, putDelivery } from '../../../test/support/mutation-delivery.ts';
import { objectsOf, townOfWeesp } from '../../../test/support/town.ts';
import { writeExtract } from '../../../test/support/write-extract.ts';
import type { Placeholder } from './reader.ts';
import type { Shown } from './terminal.ts';

/**
 * The extracts of a made-up municipality that a reader has, and how many of its addresses each
 * lacks. The guard refuses `half.zip` and `third.zip`; the last one is served after the first of
 * them was approved.
 */
const extracts = {
  'BAGGEM0457L-15102021.zip': { peildatum: '2021-10-15', absent: 0 },
  'lvbag-extract-nl.zip': { peildatum: '2025-12-08', absent: 0 },
  'next.zip': { peildatum: '2026-01-08', absent: 10 },
  'half.zip': { peildatum: '2026-03-08', absent: 6_000 },
  'third.zip': { peildatum: '2026-04-08', absent: 8_000 },
  'last.zip': { peildatum: '2026-05-08', absent: 6_000 },
} as const;
type Extract = keyof typeof extracts;

/** Writes the extracts and a day of mutations. @returns what they are on docs/loading.md */
export async function writeDeliveries(folder: string): Promise<Placeholder[]> {
  const town = townOfWeesp();
  // The address that docs/loading.md explains.
  Object.assign(town.NUM[0] ?? {}, { postcode: '1381AA', huisnummer: 9, huisletter: 'A' });
  const without = (absent: number) => {
    const NUM = town.NUM.slice(0, -absent || undefined);
    return { ...town, NUM, VBO: objectsOf(NUM), LIG: [], STA: [] };
  };
  for (const [name, { peildatum, absent }] of Object.entries(extracts)) {
    const extract = await writeExtract(peildatum, without(absent), { layout: 'municipality' });
    await writeFile(join(folder, name), extract);
  }
  const { peildatum, absent } = extracts['next.zip'];
  const changes = mutationsBetween(without(absent), without(absent - 1));
  const day = basename(await putDelivery(folder, peildatum, '2026-01-09', changes));
  const served: Extract[] = ['lvbag-extract-nl.zip', 'last.zip'];
  return [
    [/\bFILE_OR_URL\b/g, () => 'next.zip' satisfies Extract],
    [/\bFOLDER_OR_LIST_OR_ZIP\b/g, () => day],
    [/(?<=rollback )LOAD\b/g, (printed) => keptLoads(printed).at(-1) ?? ''],
    [/\bFILE\b/g, () => served.shift() ?? 'last.zip'],
  ];
}

/** The loads to which `load history` says that one can roll back, the newest first. */
const keptLoads = (printed: string) =>
  [...printed.matchAll(/ (\d{4}-\d\d-\d\d-\w+) +yes\b/g)].map(([, load]) => load);

/**
 * Approves and rejects loads as docs/loading.md says: a load is refused before, and its message has
 * the name. @param where the option for the service or the deployment
 */
export function withRefusedLoads(
  run: (shell: string) => Promise<Shown>,
  where: string,
): (shell: string) => Promise<Shown> {
  const refused: Extract[] = ['half.zip', 'third.zip'];
  return async (shell) => {
    if (!/ load (?:approve|reject) LOAD /.test(shell)) return run(shell);
    const { text } = await run(`npx bag-adres load run --extract ${refused.shift()} ${where}`);
    const [, load] = /load approve (\S+)/.exec(text) ?? [];
    return load ? run(shell.replace('LOAD', load)) : { code: -1, text: `Not refused: ${text}` };
  };
}
