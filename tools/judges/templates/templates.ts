import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { everything, portal } from '../../../test/lib/synthesized.ts';
import { app } from '../../../test/lib/unbundled-app.ts';
import { type Judge, pythonPackages } from '../judge.ts';

const entra = { issuer: 'https://login.example.nl', clientId: 'portal', clientSecretName: 'portal-client' };

/** The configurations whose templates are judged: together they have every type of resource. */
const configurations: Readonly<Record<string, Record<string, unknown>>> = {
  default: {},
  everything,
  cognito: { ...everything, portal },
  entra: { ...everything, portal: { ...portal, signIn: entra } },
  trial: { stage: 'trial', removalPolicy: 'destroy' },
};
const regions = ['eu-central-1', 'eu-west-1', 'us-east-1'];

/** Findings that stand, by rule, and why. */
const accepted: Readonly<Record<string, string>> = {
  W3005: 'The CDK makes a function depend on its role although it names it, and on the policy of the role with it.',
};

type Finding = {
  Filename: string;
  Message: string;
  Rule: { Id: string };
  Location: { Path: (string | number)[] | null };
};

/** AWS's own linter of templates, with every rule that is an error or a warning, for each region. */
export const templates: Judge = {
  description: 'cfn-lint: the CloudFormation templates of five configurations in three regions',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const packages = await pythonPackages('templates/requirements.txt');
    const found: string[] = [];
    let count = 0;
    for (const [name, configuration] of Object.entries(configurations)) {
      const { stacks } = app(configuration).synth();
      const files = stacks.map(({ templateFullPath }) => templateFullPath);
      count += files.length;
      const options = ['--format', 'json', '--regions', ...regions, '--', ...files];
      const { stdout, stderr, error } = spawnSync(join(packages, 'bin/cfn-lint'), options, { encoding: 'utf8' });
      if (error ?? stdout.trim() === '') throw error ?? new Error(`cfn-lint printed nothing for ${name}: ${stderr}`);
      for (const { Filename, Message, Rule, Location } of JSON.parse(stdout) as Finding[]) {
        if (Rule.Id in accepted) continue;
        found.push(`${name}: ${Rule.Id} ${Message} (${Filename.replace(/^.*\//, '')}: ${Location.Path?.join('/')})`);
      }
    }
    return { findings: found, detail: `${count} templates in ${regions.length} regions` };
  },
};
