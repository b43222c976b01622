import { describe, expect, it } from '@jest/globals';
import { checkSettingsFile } from '../../../operator/config/settings.ts';
import { type Answers, type Repository, repository } from '../../../operator/init/repository.ts';

const nobody: Answers = { accounts: {} };
const versions = {
  'bag-adres': '1.2.3',
  'aws-cdk': '2.3.4',
  'aws-cdk-lib': '2.4.5',
  constructs: '10.0.1',
};

function made(files: Record<string, string>, answers = nobody): Repository {
  return repository(
    { name: 'Adressen 2', read: (path) => files[path] },
    answers,
    versions,
    'name: deploy\n',
  );
}

/** The text of each file after `init`. */
function filesOf(files: Record<string, string>, answers = nobody): Record<string, string> {
  return Object.fromEntries(made(files, answers).files.map(({ path, text }) => [path, text]));
}

const parsed = (text = '') => JSON.parse(text);

describe('init in an empty folder', () => {
  it('writes a repository that pins the version and has a stage for tests and one for production', () => {
    const files = filesOf({});
    expect(Object.keys(files).sort()).toEqual([
      '.github/workflows/deploy.yml',
      '.gitignore',
      '.nvmrc',
      'README.md',
      'bag-adres.json',
      'cdk.json',
      'package.json',
    ]);
    expect(parsed(files['package.json'])).toMatchObject({
      name: 'adressen-2',
      private: true,
      dependencies: versions,
    });
    expect(parsed(files['cdk.json'])).toEqual({ app: 'npx --no bag-adres app' });
    const settings = parsed(files['bag-adres.json']);
    expect(settings).toMatchObject({ shared: {}, stages: { test: {}, prod: {} } });
    expect(() => checkSettingsFile(settings)).not.toThrow();
  });

  it('writes the answers where they belong', () => {
    const answers = {
      region: 'eu-west-1',
      alarmEmail: 'b@example.nl',
      accounts: { prod: '123456789012' },
    };
    expect(parsed(filesOf({}, answers)['bag-adres.json'])).toMatchObject({
      shared: { region: 'eu-west-1', alarmEmail: 'b@example.nl' },
      stages: { test: {}, prod: { account: '123456789012' } },
    });
  });
});

describe('init in a folder that has files', () => {
  it('keeps them, and a second run changes nothing', () => {
    const own = {
      'README.md': 'mine',
      'bag-adres.json': '{"stages":{"prod":{}}}',
      '.gitignore': '.env',
    };
    const files = { ...own, ...filesOf(own) };
    expect(files).toMatchObject({ 'README.md': 'mine', 'bag-adres.json': own['bag-adres.json'] });
    expect(files['.gitignore']).toBe('.env\nnode_modules/\ncdk.out/\n*.log\n');
    expect(made(files).files).toEqual([]);
    expect(made(files).kept).toContain('README.md');
  });

  it('keeps the package as it was installed, with everything else of package.json', () => {
    const former = {
      name: 'x',
      scripts: { check: 'mine' },
      dependencies: { 'bag-adres': 'file:../a.tgz', other: '1' },
    };
    expect(
      parsed(filesOf({ 'package.json': JSON.stringify(former) })['package.json']),
    ).toMatchObject({
      ...former,
      scripts: { check: 'mine', synth: 'cdk synth --quiet' },
    });
  });

  it.each([
    [{ 'package.json': '{"name":"bag-adres"}' }, 'This is a clone of bag-adres.'],
    [{ 'cdk.json': '{"app":"node other.js"}' }, 'cdk.json belongs to another app.'],
    [{ 'cdk.json': '{"app":' }, 'cdk.json is not JSON'],
  ])('refuses %j', (files, message) => {
    expect(() => made(files as unknown as Record<string, string>)).toThrow(message);
  });
});
