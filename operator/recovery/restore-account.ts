import type { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import type { Backup } from '../../packages/admin/accounts/backup.ts';
import type { Admin } from '../../packages/admin/admin.ts';
import { deployedVersions } from '../connect/checksum-rotation.ts';
import { clientConfig, readTemplate } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { countAccounts, renderCounts } from './backup-lines.ts';
import {
  accountsIn,
  describeContents,
  type RecoveryInput,
  type RecoveryReport,
  type RecoveryStep,
  recover,
} from './procedure.ts';
import { type FromSet, openSet, sessionSecretOf } from './sets.ts';

/**
 * Restores accounts and secrets into a new deployment: of another account (`lost-account`), or of another region
 * (`lost-region`). Its stacks are deployed before, empty; the register is loaded as into any new deployment.
 */
export async function restoreFromSet(
  input: RecoveryInput & FromSet & { lost: 'account' | 'region' },
): Promise<RecoveryReport> {
  const { index, backup, checksumSecret, sessionSecret } = await openSet(input);
  const secrets = new SecretsManagerClient(clientConfig);
  try {
    return await recover(input, ['data', 'service', 'loader'], async (context) => {
      const { name, stacks, where, output, client, actor, audit } = context;
      if (input.lost === 'region' && (await secrets.config.region()) === index.region) {
        const message = `This set is of ${index.region}, where ${name} is too. Deploy it in another region, and set AWS_REGION.`;
        throw new CommandError('same_region', message);
      }
      const admin = accountsIn(client, output('AccountsTableName'), actor);
      const checksum = secretAt(secrets, output('KeyChecksumSecretArn'));
      // Refuses what differs from the set: a secret that was replaced before would already refuse the keys there.
      await admin.backup.import(backup, { checkOnly: true });
      const isForeign = index.deployment !== name || (await hasOthers(admin, backup, checksum, checksumSecret));
      const set = { set: index.created, of: index.deployment, region: index.region };
      const audited = (step: RecoveryStep, before: () => Promise<unknown>): RecoveryStep => ({
        ...step,
        run: async () =>
          audit(`restore lost-${input.lost}`, { step: step.what, ...set, before: await before() }, step.run),
      });
      const secretStep = (what: string, place: SecretPlace, value: string): RecoveryStep =>
        audited(
          {
            what,
            destroys: isForeign,
            isDone: async () => (await place.value()) === value,
            run: () => place.put(value),
          },
          async () => ({ version: await place.currentVersion() }),
        );
      const sessionArn = sessionSecret === null ? undefined : await sessionSecretOf(name);
      const session = 'Put the session secret of the portal there';
      return {
        now: await describeContents(client, output),
        from: `${input.from}, the set of ${index.created}, of ${index.deployment} in ${index.region}: ${renderCounts(index.counts)}`,
        steps: [
          secretStep('Put the checksum secret of the set into the new secret', checksum, checksumSecret),
          ...(sessionArn && sessionSecret !== null
            ? [secretStep(session, secretAt(secrets, sessionArn), sessionSecret)]
            : []),
          audited({ ...importStep(admin, backup), isForeign }, () => countAccounts(admin)),
          serviceStep(stacks.service, checksum),
          registerStep(client, output('AddressesTableName'), where),
        ],
        summary: [
          `Lost is what was changed or used after ${index.created}. A key that was revoked since is valid again: revoke it again.`,
        ],
        async end() {
          if (secretFingerprint(await checksum.value()) === index.checksumSecret)
            return [`Now: ${renderCounts(await countAccounts(admin))}.`];
          const message = 'The checksum secret is not the one with which the keys of the set were issued.';
          throw new CommandError('secret_differs', message);
        },
      };
    });
  } finally {
    secrets.destroy();
  }
}

/**
 * Whether a deployment holds plans or accounts that no earlier run of this restore created: those that the set lacks,
 * and any before the secret of the set is there, which is put first.
 */
async function hasOthers(admin: Admin, backup: Backup, checksum: SecretPlace, ofSet: string): Promise<boolean> {
  const there = namesIn(await admin.backup.export());
  if ((await checksum.value()) !== ofSet) return there.length > 0;
  const wanted = new Set(namesIn(backup));
  return there.some((name) => !wanted.has(name));
}

const namesIn = ({ plans, accounts }: Backup) => [
  ...plans.map(({ code }) => `plan ${code}`),
  ...accounts.map(({ id }) => `account ${id}`),
];

type SecretPlace = ReturnType<typeof secretAt>;

function secretAt(client: SecretsManagerClient, SecretId: string) {
  return {
    value: async () => (await client.send(new GetSecretValueCommand({ SecretId }))).SecretString ?? '',
    currentVersion: async () => {
      const { VersionIdsToStages = {} } = await client.send(new DescribeSecretCommand({ SecretId }));
      return Object.entries(VersionIdsToStages).find(([, stages]) => stages.includes('AWSCURRENT'))?.[0];
    },
    put: (SecretString: string) => client.send(new PutSecretValueCommand({ SecretId, SecretString })),
  };
}

function importStep(admin: Admin, backup: Backup): RecoveryStep {
  const { plans, accounts } = backup;
  return {
    what: `Create ${plans.length} plans and ${accounts.length} accounts, with their keys, members and usage`,
    isDone: async () => {
      const left = await admin.backup.import(backup, { checkOnly: true });
      return left.plans + left.accounts === 0;
    },
    run: () => admin.backup.import(backup),
  };
}

/** Functions get the secret when CloudFormation deploys them: it must be deployed with the version that was put. */
function serviceStep(stack: string, secret: SecretPlace): RecoveryStep {
  return {
    what: `You: deploy ${stack} with the restored version of the checksum secret`,
    isDone: async () => deployedVersions(await readTemplate(stack))[0] === (await secret.currentVersion()),
    async run() {
      throw new Error(
        `set "checksumSecretVersions": ["${await secret.currentVersion()}"] in the configuration, and deploy it: npx cdk deploy ${stack}.`,
      );
    },
  };
}

/** The register is public: it is loaded as into a new deployment, which takes an hour. */
function registerStep(client: DynamoDBClient, table: string, where: string): RecoveryStep {
  return {
    what: `You: load the register ("load run ${where}"), which can run meanwhile`,
    isDone: async () => (await dynamoDbAddressTable(client, table).dataset()) !== null,
    async run() {
      throw new Error(`no register is live yet: run "load run ${where}", and wait until it has ended.`);
    },
  };
}
