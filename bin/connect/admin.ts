import { randomBytes, randomUUID } from 'node:crypto';
import { hostname, userInfo } from 'node:os';
import { resolve } from 'node:path';
import { CloudFormationClient, GetTemplateCommand } from '@aws-sdk/client-cloudformation';
import { DynamoDBClient } from '@aws-sdk/client-dynamodb';
import {
  DescribeSecretCommand,
  GetSecretValueCommand,
  PutSecretValueCommand,
  SecretsManagerClient,
  UpdateSecretVersionStageCommand,
} from '@aws-sdk/client-secrets-manager';
import { GetCallerIdentityCommand, STSClient } from '@aws-sdk/client-sts';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import { createAdminStore } from '../../core/accounts/admin/admin-store.ts';
import { type StatementStore, type Statements, statementsOf } from '../../core/accounts/admin/statements.ts';
import { secretFingerprint } from '../../core/accounts/api-key.ts';
import { environment } from '../../core/names.ts';
import { callersFolder, defaultDataFolder, readLocalState } from '../../local/data-folder.ts';
import { localDynamoDb } from '../../local/engine/client.ts';
import { statementFolder } from '../../local/statement-folder.ts';
import { type Admin, createAdmin } from '../../packages/admin/admin.ts';
import { clientConfig, deploymentStacks, findDeployment, readStack } from './deployment.ts';
import { CommandError, UsageError } from './errors.ts';

/** Where a command finds the tables, as its options say. */
export type ConnectionOptions = {
  local?: true;
  data?: string;
  stack?: string;
  accountsTable?: string;
};

/** The text of a secret in Secrets Manager. */
export async function readSecret(arn: string): Promise<string> {
  const client = new SecretsManagerClient();
  try {
    const { SecretString } = await client.send(new GetSecretValueCommand({ SecretId: arn }));
    if (SecretString) return SecretString;
    throw new CommandError(
      'no_secret',
      `The secret ${arn} is empty. Restore its value, or deploy the data stack again.`,
    );
  } finally {
    client.destroy();
  }
}

/** The tables and their client, which the caller destroys. */
export type Tables = {
  client: DynamoDBClient;
  accountsTable: string;
  /** Absent when only the accounts table was named. */
  addressesTable: string | undefined;
  /** Fetched only when needed: most commands, and most operators, have no access to it. */
  checksumSecret: () => Promise<string>;
  /** Where statements are; `undefined` where only the table was named. */
  statements: () => Promise<StatementStore | undefined>;
};

/** Finds the tables: of the local run, of a deployment, or by name. @throws CommandError, UsageError */
export async function findTables(options: ConnectionOptions, env: NodeJS.ProcessEnv): Promise<Tables> {
  if (options.local) return localTables(options.data);
  if (options.stack !== undefined) return stackTables(options.stack);
  const accountsTable = options.accountsTable ?? env[environment.accountsTable];
  if (accountsTable) return namedTables(accountsTable, env);
  throw new UsageError(
    'Name the tables: --local for the running "npm start", --stack NAME for a deployment, ' +
      `or --accounts-table NAME (or ${environment.accountsTable} in the environment).`,
  );
}

async function localTables(dataFolder: string | undefined): Promise<Tables> {
  const { endpoint, accessKeyId, accountsTable, addressesTable, checksumSecret } = await readLocalState(dataFolder);
  const client = localDynamoDb(endpoint, accessKeyId);
  const statements = async () => statementFolder(resolve(callersFolder(), dataFolder ?? defaultDataFolder));
  return { client, accountsTable, addressesTable, checksumSecret: async () => checksumSecret, statements };
}

async function stackTables(stack: string): Promise<Tables> {
  const { output, optionalOutput } = await findDeployment(stack, ['data']);
  return {
    client: new DynamoDBClient(clientConfig),
    accountsTable: output('AccountsTableName'),
    addressesTable: output('AddressesTableName'),
    checksumSecret: () => readSecret(output('KeyChecksumSecretArn')),
    statements: () => bucketNamed(optionalOutput('StatementsBucketName')),
  };
}

function namedTables(accountsTable: string, env: NodeJS.ProcessEnv): Tables {
  const checksumSecret = async () => {
    const secret = env[environment.keyChecksumSecret];
    if (secret) return secret;
    throw new CommandError(
      'no_secret',
      'Creating a key needs the checksum secret of the deployment. Use --stack NAME, which finds it, ' +
        `or set ${environment.keyChecksumSecret} in the environment.`,
    );
  };
  const addressesTable = env[environment.addressesTable];
  const statements = () => bucketNamed(env[environment.statementsBucket]);
  return { client: new DynamoDBClient(clientConfig), accountsTable, addressesTable, checksumSecret, statements };
}

async function bucketNamed(bucket: string | undefined): Promise<StatementStore | undefined> {
  if (!bucket) return undefined;
  // Imported here because most commands need no client of S3.
  const [{ S3Client }, { s3Statements }] = await Promise.all([
    import('@aws-sdk/client-s3'),
    import('../../core/accounts/admin/statement-bucket.ts'),
  ]);
  return s3Statements(new S3Client(clientConfig), bucket);
}

/**
 * The actor in the audit entry of a change by command line: the identity that AWS sees, the ARN of a role and its
 * session. Where STS can't be asked, what this machine says, marked as such: an emergency must not wait for it.
 */
export async function callerIdentity(): Promise<string> {
  const client = new STSClient({ ...clientConfig, maxAttempts: 2 });
  try {
    const { Arn } = await client.send(new GetCallerIdentityCommand());
    return Arn ?? `${localUser()} (not confirmed by AWS)`;
  } catch {
    return `${localUser()} (not confirmed by AWS)`;
  } finally {
    client.destroy();
  }
}

/** The actor of a change in an engine on this machine, which has no identities. */
function localUser(): string {
  return `${userName()}@${hostname()}`;
}

function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return 'unknown'; // a user id without a name, as in some containers
  }
}

/** What a command on accounts works with. */
export type OpenAdmin = {
  admin: Admin;
  /** The statements of closed months; `undefined` where the options name no bucket. */
  statements: () => Promise<Statements | undefined>;
};

/** The admin module on the tables that `options` or `env` name. @throws CommandError, UsageError */
export async function openAdmin(
  options: ConnectionOptions,
  env: NodeJS.ProcessEnv,
): Promise<OpenAdmin & { client: DynamoDBDocumentClient; table: string; close: () => void }> {
  const [{ client, accountsTable: table, checksumSecret, statements }, actor] = await Promise.all([
    findTables(options, env),
    options.local ? localUser() : callerIdentity(),
  ]);
  // It builds an entry of every call for a logger that the client doesn't have: a quarter of the time of an export of
  // usage.
  client.middlewareStack.remove('loggerMiddleware');
  const documents = DynamoDBDocumentClient.from(client);
  return {
    admin: createAdmin({ client: documents, table, checksumSecret, actor }),
    client: documents,
    table,
    async statements() {
      const store = await statements();
      return store && statementsOf(createAdminStore(documents, table, actor, Date.now), store);
    },
    close: () => client.destroy(),
  };
}

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

/** The checksum secret of a deployment. The caller closes it. */
export async function openChecksumSecret(stack: string) {
  const { output } = await findDeployment(stack, ['data']);
  const { name, stacks } = deploymentStacks(stack);
  const SecretId = output('KeyChecksumSecretArn');
  const secrets = new SecretsManagerClient(clientConfig);
  const cloudFormation = new CloudFormationClient(clientConfig);

  return {
    name,
    serviceStack: stacks.service,

    async state(): Promise<RotationState> {
      const [secret, service, template] = await Promise.all([
        secrets.send(new DescribeSecretCommand({ SecretId })),
        readStack(stacks.service),
        cloudFormation.send(new GetTemplateCommand({ StackName: stacks.service })),
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
        deployed: deployedVersions(template.TemplateBody ?? ''),
        isDeploying: service.status.endsWith('_IN_PROGRESS'),
      };
    },

    /** Of the version that keys are issued with now. */
    fingerprint: async (): Promise<string> => secretFingerprint(await readSecret(SecretId)),

    /** Adds a version that nothing uses yet, and returns its id. */
    async addVersion(): Promise<string> {
      const id = randomUUID();
      const SecretString = randomBytes(48).toString('base64url');
      await secrets.send(
        new PutSecretValueCommand({ SecretId, SecretString, ClientRequestToken: id, VersionStages: [nextLabel] }),
      );
      return id;
    },

    /** Issues keys with version `next` from now on. */
    async makeCurrent(next: string, current: string): Promise<void> {
      const move = (VersionStage: string, to: { MoveToVersionId?: string; RemoveFromVersionId?: string }) =>
        secrets.send(new UpdateSecretVersionStageCommand({ SecretId, VersionStage, ...to }));
      await move('AWSCURRENT', { MoveToVersionId: next, RemoveFromVersionId: current });
      await move(nextLabel, { RemoveFromVersionId: next });
    },

    close(): void {
      secrets.destroy();
      cloudFormation.destroy();
    },
  };
}

/** The versions in the references of a template to the secret: that of new keys, then the other one. */
export function deployedVersions(template: string): string[] {
  return [environment.keyChecksumSecret, environment.previousKeyChecksumSecret].flatMap((variable) => {
    const reference = new RegExp(`\\b${variable}"?\\s*:[\\s\\S]{0,600}?:SecretString:*([A-Za-z0-9-]*)\\}\\}`).exec(
      template,
    );
    return reference?.[1] ? [reference[1]] : [];
  });
}
