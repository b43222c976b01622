import { deploymentName, portalStackName, stackNames } from '../../lib/config/deployment.ts';
import {
  type ComparedTemplate,
  compareTemplates,
  type Loss,
  type TemplateChanges,
  versionIn,
} from './compare-templates.ts';
import { compareVersions, type Release, releasesBetween } from './releases.ts';

/** A stack as it is deployed, and as the installed version makes it from the settings, which may no longer have it. */
export type StackState = { name: string; deployed: ComparedTemplate | undefined; next: ComparedTemplate | undefined };

/** What an upgrade would do to one stack. */
type StackPlan = {
  name: string;
  deployedVersion: string | null;
  isDeployed: boolean;
  /** Whether the settings still have it; a stack that they no longer have stays as it is. */
  isConfigured: boolean;
} & TemplateChanges;

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
    isConfigured: next !== undefined,
    deployedVersion: (deployed && versionIn(deployed)) ?? null,
    ...compareTemplates(deployed ?? {}, next ?? deployed ?? {}),
  }));
  const versions = stacks
    .flatMap(({ deployedVersion, isConfigured }) => (isConfigured && deployedVersion) || [])
    .sort(compareVersions);
  // An upgrade that stopped half way is upgraded from the older version.
  const deployed = versions[0] ?? null;
  const between = releasesBetween(releases, deployed ?? undefined, installed);
  const obstacles = stacks.flatMap(({ name, losses }) => losses.map((loss) => obstacle(name, loss)));
  for (const { name, isConfigured } of stacks)
    if (!isConfigured)
      obstacles.push(
        `${name} is deployed, but no longer in the settings: "cdk deploy" would leave it behind. Put its setting back, or delete the stack first, as docs/deploy.md#take-it-down says.`,
      );
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
      `npx bag-adres doctor --stage ${stage}`,
    ],
  };
}

function obstacle(stack: string, { logicalId, type, what }: Loss): string {
  return `${stack}: ${logicalId} (${type}) ${what}.`;
}

/** A return to a former version of the code, with the settings as they are. */
export type RollbackPlan = { to: string; obstacle: string | null; steps: readonly string[] };

/**
 * Plans the return to `to`, a version or a packed file; by default the release before the installed one. The service
 * goes first, as callers wait for it, then the other stacks with code; that with the data has none.
 * Undefined if there is no release before. Only a named version can be applied: the first step changes which one is
 * before, so that the same command would go back further when it is run again.
 */
export function planRollback(
  { stage, hasPortal, apply }: { stage: string; hasPortal: boolean; apply?: true | undefined },
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
  const known = releases.map(({ version }) => version).filter((version) => compareVersions(version, installed) <= 0);
  const deployment = deploymentName(stage);
  const { service, loader } = stackNames(deployment);
  const others = [loader, ...(hasPortal ? [portalStackName(deployment)] : [])].join(' ');
  const options = `--exclusively --require-approval never -c bagAdres.stage=${stage} -c bagAdres.deployment=emergency`;
  const unnamed = `Name the version that you go back to: rollback-code --stage ${stage} --to ${target} --apply.`;
  const objection =
    isVersion && !known.includes(target)
      ? `There is no release ${target} up to ${installed}. Choose one of: ${known.join(', ')}.`
      : blocking &&
        `${blocking.version} can't be undone: ${blocking.rollback.note} Move forward with a corrected version.`;
  return {
    to: target,
    obstacle: objection ?? (apply && to === undefined ? unnamed : null),
    steps: [
      `npm install --save-exact ${isVersion ? `bag-adres@${target}` : JSON.stringify(target)}`,
      `npx bag-adres config check --stage ${stage}`,
      `npx cdk deploy ${service} ${options}`,
      `npx cdk deploy ${others} ${options}`,
    ],
  };
}
