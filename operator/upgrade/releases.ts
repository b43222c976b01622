import { readFileSync } from 'node:fs';
import * as z from 'zod';

/** What an operator has to know of a release; `CHANGELOG.md` says it in words. */
export type Release = z.infer<typeof releaseSchema>;

const releaseSchema = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  stacks: z.string().min(1),
  /** New and changed fields of the configuration. */
  fields: z.string().min(1),
  cost: z.string().min(1),
  /** What to do by hand, before the deployment. */
  manualSteps: z.array(z.string()),
  /** What the first start of the new version changes in stored data. */
  migrations: z.array(z.string()),
  /** Whether the release before it runs on what this one has written. */
  rollback: z.strictObject({ possible: z.boolean(), note: z.string() }),
});

/** Every release, the oldest first. */
export function readReleases(): Release[] {
  const file = new URL('../../docs/releases/releases.json', import.meta.url);
  return z.array(releaseSchema).parse(JSON.parse(readFileSync(file, 'utf8')));
}

/** Negative if `a` is the older version. */
export function compareVersions(a: string, b: string): number {
  const [x, y] = [a, b].map((version) => version.split('.').map(Number));
  for (let i = 0; i < 3; i++) if (x?.[i] !== y?.[i]) return (x?.[i] ?? 0) - (y?.[i] ?? 0);
  return 0;
}

/** The releases after `deployed`, up to `installed`, in order. All up to it, if nothing is known to be deployed. */
export function releasesBetween(
  releases: readonly Release[],
  deployed: string | undefined,
  installed: string,
): Release[] {
  return releases
    .filter(({ version }) => compareVersions(version, installed) <= 0)
    .filter(({ version }) => deployed !== undefined && compareVersions(version, deployed) > 0);
}
