import { readFileSync } from 'node:fs';

/** The parts of a deployment; each is one CloudFormation stack. */
export type StackPart = 'data' | 'service' | 'loader';

/** The beginning of the names of a stage's stacks: `bag-adres-prod`. */
export function deploymentName(stage: string): string {
  return `bag-adres-${stage}`;
}

/**
 * The CloudFormation names of the stacks of a deployment. The app creates them and the command line
 * finds them by these.
 */
export function stackNames(deployment: string): Record<StackPart, string> {
  return {
    data: `${deployment}-data`,
    service: `${deployment}-service`,
    loader: `${deployment}-loader`,
  };
}

/** The stack of the portal, which not every deployment has. */
export function portalStackName(deployment: string): string {
  return `${deployment}-portal`;
}

/**
 * The name in the metadata of every template, whose member `layout` is `storedLayout`: `gate` and
 * `doctor` compare it with their own.
 */
export const templateMetadata = 'bag-adres';

/** The settings of an operator, in the folder of `cdk.json`. */
export const settingsFileName = 'bag-adres.json';

/**
 * The version that is deployed: an output for `doctor`, a tag of functions, and a dimension of a
 * metric.
 */
export function packageVersion(): string {
  return manifest().version;
}

/**
 * The pins of an operator's repository: this version, and the library and command line of the CDK
 * that fit it.
 */
export function pinnedVersions(): Record<string, string> {
  const { version, dependencies, devDependencies } = manifest();
  const tested = { ...devDependencies, ...dependencies };
  // In a clone, the checks alone need the command line; an installed package names it among its
  // own.
  tested['aws-cdk'] ??= manifest('.ci/tools/').devDependencies['aws-cdk'] ?? '';
  const names = ['aws-cdk', 'aws-cdk-lib', 'constructs'];
  return {
    ...Object.fromEntries(names.map((name) => [name, tested[name] ?? ''])),
    'bag-adres': version,
  };
}

type PackageManifest = { version: string } & Record<
  'dependencies' | 'devDependencies',
  Record<string, string>
>;

function manifest(folder = ''): PackageManifest {
  return JSON.parse(readFileSync(new URL(`../../${folder}package.json`, import.meta.url), 'utf8'));
}
