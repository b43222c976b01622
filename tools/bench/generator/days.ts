import { existsSync, mkdirSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type MutationGroup,
  writeMutationDelivery,
} from '../../../test/support/mutation-delivery.ts';
import type { RelatieStand } from '../../../test/support/stand-xml.ts';
import { dateInName } from '../../../test/support/write-extract.ts';
import { block, type Plan, peildatumAfter, relatiesOf } from './country.ts';

/**
 * The deliveries of `plan.days` days after its first state, in their order, from `folder` where
 * they were made before. After all of them the register equals `generatedExtract` with as many
 * days.
 */
export async function generatedDays(plan: Plan, folder = '.data/bench'): Promise<string[]> {
  const days = plan.days ?? 0;
  const names = Array.from({ length: days }, (_, day) => {
    const vanaf = peildatumAfter(day);
    const tot = peildatumAfter(day + 1);
    return { vanaf, tot, name: `BAGNLDM-${dateInName(vanaf)}-${dateInName(tot)}.zip` };
  });
  const place = join(
    folder,
    `days-v2-seed${plan.seed}-blocks${plan.blocks}${plan.objecten ? '-objecten' : ''}`,
  );
  const paths = names.map(({ name }) => join(place, name));
  if (paths.every((path) => existsSync(path))) return paths;

  const groups = names.map((): MutationGroup[] => []);
  const relaties: RelatieStand[] = [];
  for (let index = 0; index < plan.blocks; index++) {
    const { WPL } = block(plan, index, (day, ofBlock) => groups[day]?.push(...ofBlock));
    relaties.push(...relatiesOf(WPL));
  }
  mkdirSync(place, { recursive: true });
  for (const [day, { vanaf, tot }] of names.entries()) {
    await writeFile(
      paths[day] as string,
      await writeMutationDelivery(vanaf, tot, groups[day] ?? [], { relaties }),
    );
  }
  return paths;
}
