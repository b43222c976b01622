import { readFileSync } from 'node:fs';
import { Logger } from '@aws-lambda-powertools/logger';
import type { EventBridgeClient } from '@aws-sdk/client-eventbridge';
import { GetSecretValueCommand, SecretsManagerClient } from '@aws-sdk/client-secrets-manager';
import { DynamoDBDocumentClient } from '@aws-sdk/lib-dynamodb';
import * as z from 'zod/mini';
import { createStoreClient } from '../core/dynamodb.ts';
import { environment, optionalEnvironment, requireEnvironment } from '../core/environment.ts';
import { languages as allLanguages } from '../core/languages.ts';
import { announceWith, createAdmin, type EventEntry } from '../packages/admin/index.ts';
import type { Loads, LoadsConfig } from '../packages/admin/loads.ts';
import type { Statements } from '../packages/admin/statements.ts';
import { linkFields } from '../packages/ui/links.ts';
import { portalApp, portalHandler } from './portal-app.ts';
import { freshSecret } from './request/cookies.ts';
import { providerFault } from './stack/portal-names.ts';

const settingsSchema = z.object({
  deployment: z.string(),
  baseUrl: z.string(),
  apiUrl: z.string(),
  company: z.optional(z.string()),
  colour: z.string(),
  links: z._default(z.object(linkFields), {}),
  languages: z.optional(z.array(z.enum(allLanguages))),
  objecten: z.optional(z.boolean()),
  logoType: z.optional(z.enum(['image/svg+xml', 'image/png'])),
  signIn: z.object({
    issuer: z.string(),
    clientId: z.string(),
    subjectClaim: z.string(),
    operators: z.array(z.string()),
    operatorClaim: z.optional(z.object({ name: z.string(), value: z.string() })),
  }),
});

const { logoType, signIn, deployment, ...settings } = settingsSchema.parse(
  JSON.parse(requireEnvironment(environment.portal)),
);
const logger = new Logger({ serviceName: 'portal' });
const secrets = new SecretsManagerClient({ maxAttempts: 2 });
const client = DynamoDBDocumentClient.from(createStoreClient());
const table = requireEnvironment(environment.accountsTable);
const bucket = requireEnvironment(environment.snapshotBucket);
const statementsBucket = requireEnvironment(environment.statementsBucket);
const stateMachine = requireEnvironment(environment.loadMachine);
const sessionSecretArn = requireEnvironment(environment.portalSessionSecret);
const clientSecretName = optionalEnvironment(environment.portalClientSecret);

const announce = announceWith(deployment, putEvent);

const app = portalApp(
  {
    settings: {
      ...settings,
      ...(logoType && {
        logo: {
          type: logoType,
          bytes: new Uint8Array(readFileSync(new URL('./logo', import.meta.url))),
        },
      }),
      signIn: {
        ...signIn,
        ...(clientSecretName && { clientSecret: freshSecret(() => readSecret(clientSecretName)) }),
      },
      sessionSecret: freshSecret(() => readSecret(sessionSecretArn)),
    },
    adminAs: (actor) => createAdmin({ client, table, actor, announce }),
    loadsAs,
    statements,
    now: Date.now,
  },
  logError,
);

export const handler = portalHandler(app);

let events: EventBridgeClient | undefined;

/** Loaded with the first change: most visits make none. */
async function putEvent(event: EventEntry): Promise<void> {
  const { EventBridgeClient, PutEventsCommand } = await import('@aws-sdk/client-eventbridge');
  events ??= new EventBridgeClient({ maxAttempts: 2 });
  await events.send(new PutEventsCommand({ Entries: [event] }));
}

let loaderClients: Promise<Pick<LoadsConfig, 's3' | 'stepFunctions'>> | undefined;

/** Only operators need it, so its clients are loaded when the first one looks at the register. */
async function loadsAs(actor: string): Promise<Loads> {
  const { createLoads } = await import('../packages/admin/loads.ts');
  loaderClients ??= (async () => {
    const [{ S3Client }, { SFNClient }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('@aws-sdk/client-sfn'),
    ]);
    return {
      s3: new S3Client({ maxAttempts: 3 }),
      stepFunctions: new SFNClient({ maxAttempts: 3 }),
    };
  })();
  return createLoads({ client, table, ...(await loaderClients), bucket, stateMachine, actor });
}

let statementsOfBucket: Promise<Statements> | undefined;

/** Loaded when somebody looks at the first one. */
function statements(): Promise<Statements> {
  statementsOfBucket ??= (async () => {
    const [{ S3Client }, { createStatements }] = await Promise.all([
      import('@aws-sdk/client-s3'),
      import('../packages/admin/statements.ts'),
    ]);
    return createStatements({
      client,
      table,
      s3: new S3Client({ maxAttempts: 3 }),
      bucket: statementsBucket,
    });
  })();
  return statementsOfBucket;
}

async function readSecret(id: string): Promise<string> {
  const { SecretString } = await secrets.send(new GetSecretValueCommand({ SecretId: id }));
  if (SecretString) return SecretString;
  throw new Error('A secret of the portal is empty.');
}

/** Logs the type of an error and its stack, but no message, which may contain user input. */
function logError(error: unknown, id: string, provider?: string): void {
  const { name = 'unknown', stack = '' } = error instanceof Error ? error : {};
  const frames = stack.split('\n').filter((line) => /^\s+at /.test(line));
  logger.error('The portal failed', {
    request_id: id,
    error: name,
    frames: frames.slice(0, 8),
    ...(provider && { [providerFault.member]: provider }),
  });
}
