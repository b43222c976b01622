import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
} from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import { dynamoDbAddressTable } from '../../loader/storage/address-table.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import type { Backup } from '../../packages/admin/backup.ts';
import { countBackup } from '../../packages/admin/backup-lines.ts';
import { callerIdentity } from '../connect/admin.ts';
import { deployedVersions } from '../connect/checksum-rotation.ts';
import { clientConfig, type Deployment, deploymentStacks, findDeployment } from '../connect/deployment.ts';
import { CommandError } from '../connect/errors.ts';
import { operatorAudit, servicePartition } from '../connect/operator-audit.ts';
import { openBackupSet } from './backup-set.ts';
import { parseLines } from './parse-lines.ts';
import { runProcedure, type Step } from './procedure.ts';
import { type RestoreInput, type RestoreReport, renderCounts } from './restore.ts';
import { findSet, readKeyFile, sessionSecretOf } from './sets.ts';
import { smokeLines } from './verify.ts';

export type FromSet = {
  /** A set, or a place with sets, of which the newest is taken. */
  from: string;
  /** The file with the private key. */
  privateKey: string;
};

/** A set that was opened and compared with its index. @throws BackupSetError, CommandError */
export async function openForRestore({ from, privateKey }: FromSet) {
  const key = await readKeyFile(privateKey);
  const { store, name, index } = await findSet(from);
  const opened = await openBackupSet(store, name, key);
  const backup = parseLines(`${from}/${name}accounts`, opened.accounts);
  const [held, said] = [renderCounts(countBackup(backup)), renderCounts(index.counts)];
  if (held !== said)
    throw new CommandError('set_differs', `The set holds ${held}, its index says ${said}. Use another set.`);
  return { ...opened, name, index, backup };
}

/**
 * Restores accounts and secrets into a new deployment: of another account (`lost-account`), or of another region
 * (`lost-region`). Its stacks are deployed before, empty; the register is loaded as into any new deployment.
 */
export async function restoreFromSet(
  input: RestoreInput & FromSet & { lost: 'account' | 'region' },
): Promise<RestoreReport> {
  const { name, stacks } = deploymentStacks(input.stack);
  const deployment = await findDeployment(input.stack, ['data', 'service', 'loader']);
  const { index, backup, checksumSecret, sessionSecret } = await openForRestore(input);
  const { output } = deployment;
  const secrets = new SecretsManagerClient(clientConfig);
  const dynamoDb = new DynamoDBClient(clientConfig);
  try {
    const region = await secrets.config.region();
    if (input.lost === 'region' && region === index.region) {
      const message = `This set is of ${index.region}, where ${name} is too. Deploy it in another region, and set AWS_REGION.`;
      throw new CommandError('same_region', message);
    }
    const [accountsTable, actor] = [output('AccountsTableName'), await callerIdentity()];
    const admin = createAdmin({
      client: DynamoDBDocumentClient.from(dynamoDb),
      table: accountsTable,
      checksumSecret,
      actor,
    });
    const audit = operatorAudit({
      client: dynamoDb,
      accountsTable,
      actor: async () => actor,
      print: input.print,
      partition: servicePartition,
    });
    const set = { set: index.created, of: index.deployment, region: index.region };
    const audited = (step: Step, before: () => Promise<unknown>): Step => ({
      ...step,
      run: async () =>
        audit(`restore lost-${input.lost}`, { step: step.what, ...set, before: await before() }, step.run),
    });
    const checksum = secretAt(secrets, output('KeyChecksumSecretArn'));
    const sessionArn = sessionSecret === null ? undefined : await sessionSecretOf(name);
    const auditedSession = (arn: string, value: string): Step => {
      const place = secretAt(secrets, arn);
      const step = secretStep('Put the session secret of the portal there', place, value);
      return audited(step, async () => ({ version: await place.currentVersion() }));
    };
    const steps = [
      audited(
        secretStep('Put the checksum secret of the set into the new secret', checksum, checksumSecret),
        async () => ({ version: await checksum.currentVersion() }),
      ),
      ...(sessionArn !== undefined && sessionSecret !== null ? [auditedSession(sessionArn, sessionSecret)] : []),
      audited(importStep(admin, backup), async () => countBackup(await admin.backup.export())),
      serviceStep(stacks.service, checksum),
      registerStep(dynamoDb, deployment, `--stack ${name}`),
    ];
    const report = await runProcedure(steps, input);
    const summary = [
      `The set is of ${index.created}, of ${index.deployment} in ${index.region}: ${renderCounts(index.counts)}.`,
      'Lost is what was changed or used after that time. A key that was revoked since is valid again: revoke it again.',
    ];
    if (report.remaining.length > 0) return { ...report, summary };
    const now = countBackup(await admin.backup.export());
    summary.push(`Now: ${renderCounts(now)}.`);
    if (secretFingerprint(await checksum.value()) !== index.checksumSecret)
      throw new CommandError(
        'secret_differs',
        'The checksum secret is not the one with which the keys of the set were issued.',
      );
    summary.push(...(await smokeLines(output('BaseUrl'), input.key)));
    return { ...report, summary };
  } finally {
    secrets.destroy();
    dynamoDb.destroy();
  }
}

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

function secretStep(what: string, secret: SecretPlace, value: string): Step {
  return {
    what,
    isDone: async () => (await secret.value()) === value,
    run: async () => void (await secret.put(value)),
  };
}

function importStep(admin: Admin, backup: Backup): Step {
  const { plans, accounts } = backup;
  return {
    what: `Create ${plans.length} plans and ${accounts.length} accounts, with their keys, members and usage`,
    isDone: async () => {
      const left = await admin.backup.import(backup, { checkOnly: true });
      return left.plans + left.accounts === 0;
    },
    run: async () => void (await admin.backup.import(backup)),
  };
}

/** Functions get the secret when CloudFormation deploys them: it must be deployed with the version that was put. */
function serviceStep(stack: string, secret: SecretPlace): Step {
  const deployed = async () => {
    const client = new CloudFormationClient(clientConfig);
    try {
      return deployedVersions((await client.send(new GetTemplateCommand({ StackName: stack }))).TemplateBody ?? '');
    } finally {
      client.destroy();
    }
  };
  return {
    what: `You: deploy ${stack} with the restored version of the checksum secret`,
    isDone: async () => (await deployed())[0] === (await secret.currentVersion()),
    async run() {
      throw new Error(
        `set "checksumSecretVersions": ["${await secret.currentVersion()}"] in the configuration, and deploy it: npx cdk deploy ${stack}.`,
      );
    },
  };
}

/** The register is public: it is loaded as into a new deployment, which takes an hour. */
function registerStep(client: DynamoDBClient, { output }: Deployment, where: string): Step {
  const addresses = dynamoDbAddressTable(client, output('AddressesTableName'));
  return {
    what: `You: load the register ("load run ${where}"), which can run meanwhile`,
    isDone: async () => (await addresses.dataset()) !== null,
    async run() {
      throw new Error(`no register is live yet: run "load run ${where}", and wait until it has ended.`);
    },
  };
}
