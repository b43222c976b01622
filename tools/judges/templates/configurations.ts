import { everything, portal } from '../../../test/lib/synthesized.ts';

/** The OpenID provider of an operator. */
export const entra = {
  issuer: 'https://login.example.nl',
  clientId: 'portal',
  clientSecretName: 'portal-client',
};

const { backupVaultArn } = everything;

/**
 * The configurations whose templates and functions are judged: together they have every type of
 * resource.
 */
export const configurations: Readonly<Record<string, Record<string, unknown>>> = {
  default: {},
  objecten: { dataset: { objecten: true } },
  backups: { backupVaultArn },
  everything: { ...everything, dataset: { objecten: true } },
  cognito: { ...everything, portal },
  entra: { ...everything, portal: { ...portal, signIn: entra } },
  trial: { stage: 'trial', removalPolicy: 'destroy' },
};
