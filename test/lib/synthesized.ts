import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { deploymentName, portalStackName, stackNames } from '../../lib/config/deployment.ts';
import './assemblies.ts';

export type Resource = {
  Type: string;
  Properties?: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  UpdatePolicy?: Record<string, unknown>;
  DependsOn?: string[];
};
export type Template = {
  Metadata?: unknown;
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
};

const certificates = 'arn:aws:acm:eu-central-1:123456789012:certificate';

/** Every option that adds resources, switched on. */
export const everything = {
  stage: 'trial',
  removalPolicy: 'destroy',
  encryptionKey: 'create',
  deployment: 'all-at-once',
  alarmEmail: 'beheer@example.nl',
  budget: { usdPerMonth: 200 },
  tracing: true,
  backupVaultArn: 'arn:aws:backup:eu-central-1:999999999999:backup-vault:accounts',
  dashboards: true,
  reservedConcurrency: 100,
  provisionedConcurrency: 2,
  warmThroughput: { accountsWrites: 8000 },
  mutations: true,
  tags: { team: 'adressen' },
  canary: { keySecretName: 'bag-adres-canary', postcode: '1012RJ', huisnummer: 147 },
  domain: {
    name: 'adres.example.nl',
    certificateArn: `${certificates}/0a1b2c`,
    hostedZoneId: 'Z0123456789ABC',
    hostedZoneName: 'example.nl',
  },
};

/** Settings with another value than `everything` and the defaults have: one synthesis for all. */
export const otherwise = {
  account: '123456789012',
  source: 'https://mirror.example.nl/lvbag-extract-nl.zip',
  mutations: 'https://mirror.example.nl/bestanden.json',
  dataset: { objecten: true },
  deployment: 'emergency',
  domain: { ...everything.domain, keepDefaultEndpoint: true },
  api: { publicUrl: 'https://public.example.nl' },
  dashboards: true,
  loadConcurrency: 2,
  referencePage: false,
  testAddresses: false,
  usage: { messageAtShare: 0 },
};

/** A portal, whose stack no other option needs. */
export const portal = {
  domain: {
    ...everything.domain,
    name: 'portal.example.nl',
    certificateArn: `${certificates}/0b1a2c`,
  },
  operators: ['Olaf@Example.nl'],
};

/** A provider with a secret that ends, which has an alarm more than a user pool. */
export const signIn = {
  issuer: 'https://login.example.nl',
  clientId: 'x',
  clientSecretName: 'x',
  clientSecretExpires: '2027-01-31',
};

/** What tests read of a synthesized stack. */
type SynthesizedStack = {
  template: Template;
  terminationProtection: boolean | undefined;
  environment: { account: string; region: string };
  messages: { level: string; entry: { data?: unknown } }[];
};

const root = join(import.meta.dirname, '../..');
const cache = join(root, 'node_modules/.cache/templates');

/** Of everything that templates depend on beside their configuration. */
const inputs = globSync(
  [
    '{bin,core,lib,lambdas,loader,operator,packages,portal}/**/*.*',
    'test/lib/{synthesized,unbundled-app}.ts',
    'cdk.json',
    'package*.json',
  ],
  { cwd: root },
  // A release builds these anew, from the rest.
).filter((file) => !file.includes('/dist/'));

let digest: string | undefined;

/** Differs when any source that a template depends on does. */
function sources(): string {
  const hash = createHash('sha256').update(process.version);
  for (const file of inputs.sort()) {
    hash.update(`\0${file}\0`).update(readFileSync(join(root, file)));
  }
  return hash.digest('hex').slice(0, 32);
}

/**
 * The template of each stack of a configuration, of the present sources. `all` has them by part,
 * the portal's too if there is one. A template is synthesized once and then kept on disk, since
 * many test files read the same ones.
 */
export async function templates(bagAdres: Record<string, unknown> = {}) {
  digest ??= sources();
  const configuration = createHash('sha256')
    .update(JSON.stringify(bagAdres))
    .digest('hex')
    .slice(0, 32);
  const file = join(cache, digest, `${configuration}.json`);
  if (!existsSync(file)) await synthesize(bagAdres, file);
  const stacks: Record<string, SynthesizedStack> = JSON.parse(readFileSync(file, 'utf8'));
  const deployment = deploymentName(typeof bagAdres.stage === 'string' ? bagAdres.stage : 'prod');
  const names = stackNames(deployment);
  const stack = (name: string): SynthesizedStack => {
    const found = stacks[name];
    if (!found) throw new Error(`There is no stack ${name}.`);
    return found;
  };
  const template = (name: string): Template => stack(name).template;
  const parts = {
    data: template(names.data),
    service: template(names.service),
    loader: template(names.loader),
  };
  const portalName = portalStackName(deployment);
  const withPortal = portalName in stacks ? { ...parts, portal: template(portalName) } : parts;
  return { ...parts, all: withPortal as Record<string, Template>, stack, names };
}

async function synthesize(bagAdres: Record<string, unknown>, file: string): Promise<void> {
  const { app } = await import('./unbundled-app.ts');
  const stacks = Object.fromEntries(
    app(bagAdres)
      .synth()
      .stacks.map(({ stackName, template, terminationProtection, environment, messages }) => [
        stackName,
        { template, terminationProtection, environment, messages },
      ]),
  );
  const folder = join(file, '..');
  mkdirSync(folder, { recursive: true });
  for (const other of readdirSync(cache)) {
    if (join(cache, other) !== folder) rmSync(join(cache, other), { recursive: true, force: true });
  }
  writeFileSync(`${file}.${process.pid}`, JSON.stringify(stacks));
  renameSync(`${file}.${process.pid}`, file); // another test file may be about to read it
}

/** The resources of one type, by logical id. */
export function ofType({ Resources }: Template, type: string): Record<string, Resource> {
  return Object.fromEntries(
    Object.entries(Resources).filter(([, resource]) => resource.Type === type),
  );
}

/** The properties of the resources of one type. */
export const propertiesOf = (template: Template, type: string): Record<string, unknown>[] =>
  Object.values(ofType(template, type)).map(({ Properties = {} }) => Properties);

/** The logical id and the environment of each function. */
export const environmentsOf = (
  template: Template,
): [id: string, variables: Record<string, string>][] =>
  Object.entries(ofType(template, 'AWS::Lambda::Function')).map(([id, { Properties }]) => {
    const { Variables = {} } = (Properties?.Environment ?? {}) as {
      Variables?: Record<string, string>;
    };
    return [id, Variables];
  });
