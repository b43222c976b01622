import { mkdtempSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/config/config-error.ts';
import {
  checkSettingsFile,
  readSettings,
  readSettingsFile,
  settingsOfStage,
} from '../../../operator/config/settings.ts';
import { folderForNow } from '../../support/folder-for-now.ts';

const folder = folderForNow('bag-adres-settings-');
const domain = { name: 'adres.example.nl' };

function faults(work: () => unknown): readonly string[] {
  try {
    work();
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

describe('the context', () => {
  it('lets the command line override single fields', () => {
    const context = {
      bagAdres: { stage: 'prod', throttle: { burst: 30 } },
      'bagAdres.stage': 'test',
      'bagAdres.throttle.ratePerSecond': '20',
      'bagAdres.account': '123456789012',
      '@aws-cdk/core:checkSecretUsage': true,
      'aws:cdk:bundling-stacks': ['**'],
    };
    expect(readSettings(context).record).toEqual({
      stage: 'test',
      account: '123456789012',
      throttle: { burst: 30, ratePerSecond: 20 },
    });
    expect(context.bagAdres).toEqual({ stage: 'prod', throttle: { burst: 30 } });
  });

  it("keeps the CDK's own settings for telemetry and notices", () => {
    expect(
      readSettings({ 'cli-telemetry': false, 'acknowledged-issue-numbers': [12345], bagAdres: {} })
        .record,
    ).toEqual({});
  });

  it.each(['stage', 'bagadres', 'bagAdresstage'])('refuses the unknown key %s', (key) => {
    expect(() => readSettings({ [key]: 'test' })).toThrow(`${key} is not known`);
  });
});

describe('bag-adres.json', () => {
  const file = checkSettingsFile({
    $schema: './node_modules/bag-adres/config.schema.json',
    shared: {
      region: 'eu-west-1',
      throttle: { ratePerSecond: 50, burst: 60 },
      tags: { team: 'adressen' },
    },
    stages: {
      test: { account: '111111111111', throttle: { burst: 20 } },
      prod: { account: '222222222222', domain, tags: { cost: '12' } },
    },
  });

  it('gives a stage what is shared and what is its own, group by group', () => {
    expect(readSettings({ 'bagAdres.stage': 'test' }, file).record).toEqual({
      stage: 'test',
      region: 'eu-west-1',
      account: '111111111111',
      throttle: { ratePerSecond: 50, burst: 20 },
      tags: { team: 'adressen' },
    });
    expect(settingsOfStage(file, 'prod').record).toMatchObject({
      domain,
      tags: { team: 'adressen', cost: '12' },
    });
  });

  it('lets the command line override single fields', () => {
    const { record } = readSettings(
      { 'bagAdres.stage': 'prod', 'bagAdres.throttle.burst': '70' },
      file,
    );
    expect(record).toMatchObject({ stage: 'prod', throttle: { ratePerSecond: 50, burst: 70 } });
  });

  it('means prod where no stage is named, or the only one', () => {
    expect(readSettings({}, file).record).toMatchObject({ stage: 'prod' });
    expect(readSettings({}, { shared: {}, stages: { trial: {} } }).record).toEqual({
      stage: 'trial',
    });
    const two = { shared: {}, stages: { test: {}, acceptance: {} } };
    expect(faults(() => readSettings({}, two))).toEqual([
      expect.stringMatching(/^Which stage\? It has test, acceptance/),
    ]);
  });

  it('refuses a stage that it does not have', () => {
    expect(faults(() => readSettings({ 'bagAdres.stage': 'pord' }, file))).toEqual([
      'There is no stage "pord". It has test, prod: name one, for instance with -c bagAdres.stage=test, or add it under stages.',
    ]);
  });

  it('refuses settings in cdk.json beside it', () => {
    expect(faults(() => readSettings({ bagAdres: { tracing: true } }, file))).toEqual([
      expect.stringContaining('Move the settings in cdk.json there.'),
    ]);
    expect(faults(() => readSettings({ bagAdres: {} }, file))).toEqual([]);
  });

  it.each([
    [{ stages: {} }, 'stages is empty. Add one'],
    [{}, 'stages must be an object, for instance'],
    [[], 'It must be an object'],
    [{ stages: { prod: 5 } }, 'stages.prod must be an object'],
    [
      { stages: { 'my-data': {} } },
      'stages.my-data: the name of a stage is up to 16 lower case letters',
    ],
    [{ stages: { prod: { stage: 'prod' } } }, 'stages.prod.stage is not needed'],
    [
      { shared: { domain }, stages: { prod: {} } },
      "shared.domain can't be shared by stages. Move it to one stage",
    ],
    [
      { shared: { api: { publicUrl: 'https://adres.example.nl' } }, stages: { prod: {} } },
      "shared.api can't be shared by stages. Move it to one stage",
    ],
    [{ share: {}, stages: { prod: {} } }, 'share is not known. Did you mean shared?'],
    [
      { alarmEmail: 'a@b.nl', stages: { prod: {} } },
      'alarmEmail is not known. A setting belongs into shared, or into',
    ],
  ])('refuses %j and says what to write', (contents, message) => {
    expect(faults(() => checkSettingsFile(contents))).toEqual([expect.stringContaining(message)]);
  });

  it('that is no JSON is refused, and one that is missing is no settings', () => {
    const empty = mkdtempSync(join(folder, 'empty-'));
    expect(readSettingsFile(empty)).toBeUndefined();
    writeFileSync(join(empty, 'bag-adres.json'), '{"stages": {"prod": {},}}');
    expect(faults(() => readSettingsFile(empty))).toEqual([
      expect.stringMatching(/^It is not JSON: .*(line 1|position)/),
    ]);
  });
});
