import { randomBytes, randomUUID } from 'node:crypto';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeSecretCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import { environment } from '../../core/environment.ts';
import { clientConfig, deploymentStacks, findDeployment, readStack, readTemplate } from './deployed-stacks.ts';
import { CommandError } from './errors.ts';
import { callerIdentity, readSecret } from './find-tables.ts';
import { operatorAudit, servicePartition } from './operator-audit.ts';

/** The label of a version that is to become the current one. */
const nextLabel = 'ROTATING';

/** How far a rotation is: the versions of the secret, and those that the deployed service accepts. */
export type RotationState = {
  /** The version that keys are issued with. */
  current: string;
  /** The version that is to become current; `null` when no rotation has been started, or it has already. */
  next: string | null;
  /** The version that was current before; `null` when there was none. */
  previous: string | null;
  /** The versions that the deployed service names, the one for new keys first; none when it names none. */
  deployed: readonly string[];
  isDeploying: boolean;
};

/**
 * What comes next. `start`: no rotation is under way. `deploy`: the service has to accept `versions` first. `wait`: a
 * deployment is running. `switch`: issue keys with `next` now. `replace`: both versions are accepted, until the old
 * keys are replaced.
 */
export type RotationStep =
  | { step: 'start' | 'wait' }
  | { step: 'deploy'; versions: [string, string] }
  | { step: 'switch'; next: string }
  | { step: 'replace'; versions: [string] };

/**
 * Decides the next step. Pure: no step is due before the service accepts the versions that it issues or leaves in use.
 */
export function rotationStep({ current, next, previous, deployed, isDeploying }: RotationState): RotationStep {
  if (isDeploying) return { step: 'wait' };
  if (next !== null) {
    return deployed.includes(next) ? { step: 'switch', next } : { step: 'deploy', versions: [next, current] };
  }
  if (deployed.length > 0 && !deployed.includes(current)) {
    return { step: 'deploy', versions: [current, previous ?? (deployed[0] as string)] };
  }
  return deployed.length > 1 ? { step: 'replace', versions: [current] } : { step: 'start' };
}

/** The checksum secret of a deployment, whose changes are audited. The caller closes it. */
export async function openChecksumSecret(stage: string, print: (line: string) => void) {
  const { output } = await findDeployment(stage, ['data']);
  const { stacks } = deploymentStacks(stage);
  const SecretId = output('KeyChecksumSecretArn');
  const secrets = new SecretsManagerClient(clientConfig);
  const dynamoDb = new DynamoDBClient(clientConfig);
  const accountsTable = output('AccountsTableName');
  const audit = operatorAudit({
    client: dynamoDb,
    accountsTable,
    actor: callerIdentity,
    print,
    partition: servicePartition,
  });

  return {
    stage,
    serviceStack: stacks.service,

    async state(): Promise<RotationState> {
      const [secret, service, template] = await Promise.all([
        secrets.send(new DescribeSecretCommand({ SecretId })),
        readStack(stacks.service),
        readTemplate(stacks.service),
      ]);
      const withLabel = (label: string) =>
        Object.entries(secret.VersionIdsToStages ?? {}).find(([, labels]) => labels.includes(label))?.[0] ?? null;
      const current = withLabel('AWSCURRENT');
      const next = withLabel(nextLabel);
      if (current === null) throw new CommandError('no_secret', `The secret ${SecretId} has no current version.`);
      return {
        current,
        // An interrupted switch leaves both labels on it.
        next: next === current ? null : next,
        previous: withLabel('AWSPREVIOUS'),
        deployed: deployedVersions(template),
        isDeploying: service.status.endsWith('_IN_PROGRESS'),
      };
    },

    /** The fingerprint of the version that keys are issued with now. */
    fingerprint: async (): Promise<string> => secretFingerprint(await readSecret(SecretId)),

    /** Adds a version that nothing uses yet, and returns its id. */
    async addVersion(current: string): Promise<string> {
      const id = randomUUID();
      const SecretString = randomBytes(48).toString('base64url');
      const put = new PutSecretValueCommand({
        SecretId,
        SecretString,
        ClientRequestToken: id,
        VersionStages: [nextLabel],
      });
      await audit('checksum-secret start', { version: id, before: { version: current } }, () => secrets.send(put));
      return id;
    },

    /** Issues keys with version `next` from now on. */
    async makeCurrent(next: string, current: string): Promise<void> {
      const move = (VersionStage: string, to: { MoveToVersionId?: string; RemoveFromVersionId?: string }) =>
        secrets.send(new UpdateSecretVersionStageCommand({ SecretId, VersionStage, ...to }));
      await audit('checksum-secret switch', { version: next, before: { version: current } }, async () => {
        await move('AWSCURRENT', { MoveToVersionId: next, RemoveFromVersionId: current });
        await move(nextLabel, { RemoveFromVersionId: next });
      });
    },

    close(): void {
      secrets.destroy();
      dynamoDb.destroy();
    },
  };
}

/** The versions in the references of a template to the secret: first the version for new keys, then the other one. */
export function deployedVersions(template: string): string[] {
  return [environment.keyChecksumSecret, environment.previousKeyChecksumSecret].flatMap((variable) => {
    const reference = new RegExp(`\\b${variable}"?\\s*:[\\s\\S]{0,600}?:SecretString:*([A-Za-z0-9-]*)\\}\\}`).exec(
      template,
    );
    return reference?.[1] ? [reference[1]] : [];
  });
}
