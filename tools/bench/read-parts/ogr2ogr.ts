import { spawnSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rounded } from '../measure.ts';

/** GDAL's LVBAG driver over one file of NUM, in megabytes a second of its CPU; `null` where GDAL is not installed. */
export function ogr2ogrMegabytesPerSecond(folder: string, xml: Buffer): number | null {
  if (spawnSync('ogr2ogr', ['--version']).status !== 0) return null;
  writeFileSync(join(folder, '9999NUM01012026-000001.xml'), xml);
  const command = 'TIMEFORMAT="%U %S"; time ogr2ogr -f CSV ogr2ogr.csv 9999NUM01012026-000001.xml';
  const { stderr, status } = spawnSync('bash', ['-c', command], { cwd: folder, encoding: 'utf8' });
  const [, user, system] = /([\d.]+) ([\d.]+)\s*$/.exec(stderr) ?? [];
  if (status !== 0 || !user || !system) return null;
  return rounded(xml.length / 1e6 / (Number(user) + Number(system)));
}
