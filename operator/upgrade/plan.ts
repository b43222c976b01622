import {
  type ComparedTemplate,
  compareTemplates,
  type Loss,
  type TemplateChanges,
  versionIn,
} from './compare-templates.ts';
import { compareVersions, type Release, releasesBetween } from './releases.ts';

/** A stack as it is deployed, and as the installed version makes it. */
export type StackState = { name: string; deployed: ComparedTemplate | undefined; next: ComparedTemplate };

/** What an upgrade would do to one stack. */
type StackPlan = { name: string; deployedVersion: string | null; isDeployed: boolean } & TemplateChanges;

/** An upgrade, before anything is done. */
export type UpgradePlan = {
  stage: string;
  installed: string;
  deployed: string | null;
  stacks: readonly StackPlan[];
  releases: readonly Release[];
  /** Why the upgrade must not be deployed; empty when it may be. */
  obstacles: readonly string[];
  /** The commands and manual steps, in order. */
  steps: readonly string[];
};

/** Plans the upgrade of a stage from what is deployed to the installed version. */
export function planUpgrade(
  stage: string,
  installed: string,
  states: readonly StackState[],
  releases: readonly Release[],
): UpgradePlan {
  const stacks = states.map(({ name, deployed, next }) => ({
    name,
    isDeployed: deployed !== undefined,
    deployedVersion: (deployed && versionIn(deployed)) ?? null,
    ...compareTemplates(deployed ?? {}, next),
  }));
  const versions = stacks.flatMap(({ deployedVersion }) => deployedVersion ?? []).sort(compareVersions);
  // An upgrade that stopped half way is upgraded from the older version.
  const deployed = versions[0] ?? null;
  const between = releasesBetween(releases, deployed ?? undefined, installed);
  const obstacles = stacks.flatMap(({ name, losses }) => losses.map((loss) => obstacle(name, loss)));
  if (deployed !== null && compareVersions(deployed, installed) > 0)
    obstacles.push(
      `${deployed} is deployed, and this is the older ${installed}. Install ${deployed}, or go back with "npx bag-adres rollback-code".`,
    );
  const option = `-c bagAdres.stage=${stage}`;
  const [data] = stacks;
  return {
    stage,
    installed,
    deployed,
    stacks,
    releases: between,
    obstacles,
    steps: [
      `npx bag-adres config check --stage ${stage}`,
      ...between.flatMap(({ version, manualSteps }) => manualSteps.map((step) => `${step} (${version})`)),
      `npx cdk diff ${option}`,
      ...(data && data.added + data.changed + data.removed > 0 ? [`npx cdk deploy ${data.name} ${option}`] : []),
      `npx cdk deploy --all ${option}`,
      ...between.flatMap(({ version, migrations }) =>
        migrations.map((migration) => `Migration: ${migration} (${version})`),
      ),
      `npx bag-adres doctor --stack bag-adres-${stage}`,
    ],
  };
}

function obstacle(stack: string, { logicalId, type, what }: Loss): string {
  return `${stack}: ${logicalId} (${type}) ${what}.`;
}

/** A return to a former version of the code, with the settings as they are. */
export type RollbackPlan = { to: string; obstacle: string | null; steps: readonly string[] };

/**
 * Plans the return to `to`, a version or a packed file; by default the release before the installed one.
 * Undefined if there is none.
 */
export function planRollback(
  stage: string,
  installed: string,
  releases: readonly Release[],
  to?: string,
): RollbackPlan | undefined {
  const older = releases.filter(({ version }) => compareVersions(version, installed) < 0);
  const target = to ?? older.at(-1)?.version;
  if (target === undefined) return undefined;
  const isVersion = /^\d+\.\d+\.\d+$/.test(target);
  const undone = isVersion ? releasesBetween(releases, target, installed) : [];
  const blocking = undone.find(({ rollback }) => !rollback.possible);
  const service = `bag-adres-${stage}-service`;
  const option = `-c bagAdres.stage=${stage}`;
  return {
    to: target,
    obstacle: blocking ? `${blocking.version} can't be undone: ${blocking.rollback.note}` : null,
    steps: [
      `npm install --save-exact ${isVersion ? `bag-adres@${target}` : JSON.stringify(target)}`,
      `npx bag-adres config check --stage ${stage}`,
      `npx cdk deploy ${service} --exclusively --require-approval never ${option} -c bagAdres.deployment=emergency`,
    ],
  };
}
