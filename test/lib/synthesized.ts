import { mkdtempSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { bagAdresApp } from '../../lib/app.ts';
import { deploymentName, stackNames } from '../../lib/config/deployment.ts';
import { folderForNow } from '../support/folder-for-now.ts';

const assemblies = folderForNow('bag-adres-synth-');

export type Resource = {
  Type: string;
  Properties?: Record<string, unknown>;
  DeletionPolicy?: string;
  UpdateReplacePolicy?: string;
  UpdatePolicy?: Record<string, unknown>;
  DependsOn?: string[];
};
export type Template = {
  Resources: Record<string, Resource>;
  Outputs?: Record<string, { Value: unknown; Export?: unknown }>;
};

/** The context of cdk.json, so that tests run under the very feature flags of a deployment. */
const { context } = JSON.parse(readFileSync(new URL('../../cdk.json', import.meta.url), 'utf8'));

/** Every option that adds resources, switched on. */
export const everything = {
  stage: 'trial',
  removalPolicy: 'destroy',
  encryptionKey: 'create',
  deployment: 'all-at-once',
  alarmEmail: 'beheer@example.nl',
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
    certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c',
    hostedZoneId: 'Z0123456789ABC',
    hostedZoneName: 'example.nl',
  },
};

/** A portal, whose stack no other option needs. */
export const portal = {
  domain: { ...everything.domain, name: 'portal.example.nl' },
  company: 'Example BV',
  operators: ['Olaf@Example.nl'],
};

/** The app of a configuration; bundling is left out unless asked for, as few tests look at the code. */
export function app(bagAdres: Record<string, unknown> = {}, { bundle = false } = {}) {
  process.env.CDK_VALIDATION = 'false';
  return bagAdresApp({
    outdir: mkdtempSync(join(assemblies, 'app-')),
    context: {
      ...context,
      // Of warnings tests read the assembly; nobody reads them on the terminal.
      '@aws-cdk/core:annotationsInValidationReport': false,
      bagAdres,
      ...(bundle ? {} : { 'aws:cdk:bundling-stacks': [] }),
    },
  });
}

/** The template of each stack of a configuration. */
export function templates(bagAdres: Record<string, unknown> = {}) {
  const assembly = app(bagAdres).synth();
  const names = stackNames(deploymentName(typeof bagAdres.stage === 'string' ? bagAdres.stage : 'prod'));
  const template = (name: string): Template => assembly.getStackByName(name).template;
  const stack = (name: string) => assembly.getStackByName(name);
  return { data: template(names.data), service: template(names.service), loader: template(names.loader), stack, names };
}

/** The resources of one type, by logical id. */
export function ofType({ Resources }: Template, type: string): Record<string, Resource> {
  return Object.fromEntries(Object.entries(Resources).filter(([, resource]) => resource.Type === type));
}
