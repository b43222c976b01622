import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { app } from '../../../test/lib/unbundled-app.ts';
import { type Judge, pythonPackages, root } from '../judge.ts';
import { configurations } from './configurations.ts';

const regions = ['eu-central-1', 'eu-west-1', 'us-east-1'];

/**
 * Findings of cfn-lint that stand, by rule, and why; those of checkov are in
 * docs/evidence/compliance.md.
 */
const accepted: Readonly<Record<string, string>> = {
  W3005:
    'The CDK makes a function depend on its role although it names it, and on the policy of the role with it.',
};

type Finding = {
  Filename: string;
  Message: string;
  Rule: { Id: string };
  Location: { Path: (string | number)[] | null };
};
type Checked = {
  results: {
    failed_checks: {
      check_id: string;
      check_name: string;
      file_abs_path: string;
      resource: string;
    }[];
  };
};

/**
 * AWS's own linter of templates with every rule that is an error or a warning, for each region; and
 * checkov.
 */
export const templates: Judge = {
  description: 'cfn-lint and checkov: the CloudFormation templates of five configurations',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const files = new Map<string, string>();
    for (const [name, configuration] of Object.entries(configurations)) {
      for (const { templateFullPath } of app(configuration).synth().stacks) {
        files.set(templateFullPath, name);
      }
    }
    const findings = [...(await lintFindings(files)), ...(await checkovFindings(files))];
    return {
      findings,
      detail: `${files.size} templates, by cfn-lint in ${regions.length} regions`,
    };
  },
};

/** @param files the templates, each with the name of its configuration */
async function lintFindings(files: ReadonlyMap<string, string>): Promise<string[]> {
  const packages = await pythonPackages('templates/requirements.txt');
  const found = output(join(packages, 'bin/cfn-lint'), [
    '--format',
    'json',
    '--regions',
    ...regions,
    '--',
    ...files.keys(),
  ]);
  return (found as Finding[])
    .filter(({ Rule }) => !(Rule.Id in accepted))
    .map(({ Filename, Message, Rule, Location }) => {
      return `${files.get(Filename)}: ${Rule.Id} ${Message} (${basename(Filename)}: ${Location.Path?.join('/')})`;
    });
}

async function checkovFindings(files: ReadonlyMap<string, string>): Promise<string[]> {
  const packages = await pythonPackages('templates/checkov.txt');
  const options = [
    '--framework',
    'cloudformation',
    '--output',
    'json',
    '--quiet',
    '--compact',
    '--skip-download',
  ];
  const { results } = output(join(packages, 'bin/checkov'), [
    ...options,
    '--file',
    ...files.keys(),
  ]) as Checked;
  const answered = new Set(
    readFileSync(join(root, 'docs/evidence/compliance.md'), 'utf8').match(/CKV_AWS_\d+/g),
  );
  const failed = new Set(results.failed_checks.map(({ check_id }) => check_id));
  return [
    ...results.failed_checks
      .filter(({ check_id }) => !answered.has(check_id))
      .map(({ check_id, check_name, file_abs_path, resource }) => {
        return `${files.get(file_abs_path)}: ${check_id} ${check_name} (${resource})`;
      }),
    ...[...answered]
      .filter((id) => !failed.has(id))
      .map((id) => `docs/evidence/compliance.md answers ${id}, which checkov no longer finds`),
  ];
}

/** What a program prints as JSON; its exit code only says that it found something. */
function output(program: string, options: readonly string[]): unknown {
  const { stdout, stderr, error } = spawnSync(program, options, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
  });
  if (error ?? stdout.trim() === '') {
    throw error ?? new Error(`${basename(program)} printed nothing: ${stderr}`);
  }
  return JSON.parse(stdout);
}
