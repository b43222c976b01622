import { generateKeyPairSync } from 'node:crypto';
import { describe, expect, it } from '@jest/globals';
import { ConfigError } from '../../../lib/config/config-error.ts';
import { parseConfig } from '../../../operator/config/parse-config.ts';

const domain = {
  name: 'adres.example.nl',
  certificateArn: 'arn:aws:acm:eu-central-1:123456789012:certificate/0a1b2c',
  hostedZoneId: 'Z0123456789ABC',
  hostedZoneName: 'example.nl',
};

const portalDomain = { ...domain, name: 'portal.example.nl' };
const signIn = { issuer: 'https://login.example.nl', clientId: 'portal' };
const operatorsOf = (count: number) =>
  Array.from(
    { length: count },
    (_, index) => `${'voornaam.achternaam-'.repeat(3)}${index}@gemeente-voorbeeld.example.nl`,
  );

function faults(record: unknown): readonly string[] {
  try {
    parseConfig(record);
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
  return [];
}

/** There is one fault, of a field of `bagAdres`, and it says this. */
function expectFault(record: unknown, message: string): void {
  expect(faults(record)).toEqual([expect.stringContaining(message)]);
  expect(faults(record)).toEqual([expect.stringMatching(/^bagAdres\b/)]);
}

describe('the configuration', () => {
  it('is complete with defaults alone', () => {
    expect(parseConfig(undefined)).toMatchObject({
      stage: 'prod',
      region: 'eu-central-1',
      throttle: { ratePerSecond: 100, burst: 200 },
      removalPolicy: 'retain',
      guard: { minimumAddresses: 9_000_000 },
    });
  });

  it.each(['https://adres.example.nl', 'https://xn--adres-1.example.nl:8443'])(
    'accepts the public URL %s',
    (publicUrl) => expect(parseConfig({ api: { publicUrl } }).api).toEqual({ publicUrl }),
  );

  it('fills in the defaults of a partly configured group', () => {
    expect(parseConfig({ throttle: { burst: 50 } }).throttle).toMatchObject({
      ratePerSecond: 100,
      burst: 50,
    });
  });

  it.each([
    [{ stag: 'test' }, 'stag is not known. Did you mean stage? Allowed: stage, region, account, '],
    [{ Stage: 'test' }, 'Stage is not known. Did you mean stage?'],
    [
      { branding: { terms: 'http://example.nl' } },
      'branding.terms is "http://example.nl". Allowed: an `https://` address.',
    ],
    [
      { throttle: { rate: 5 } },
      'throttle.rate is not known. Did you mean ratePerSecond? Allowed: ratePerSecond, burst',
    ],
    [{ stage: 'Prod!' }, 'stage is "Prod!". Allowed: up to 16 lower case letters'],
    [{ stage: 'data' }, 'stage is "data". Allowed: up to 16 lower case letters'],
    [
      { stage: 'open-data' },
      'not data, service, loader or portal, nor ending in such a word after a hyphen.',
    ],
    [{ stage: 'portal' }, 'stage is "portal". Allowed: up to 16 lower case letters'],
    [{ stage: 'my-portal' }, 'stage is "my-portal". Allowed: up to 16 lower case letters'],
    [{ region: 'amsterdam' }, 'region is "amsterdam". Allowed: an AWS region'],
    [{ account: '1234' }, 'account is "1234". Allowed: an account id of 12 digits, in quotes.'],
    [
      { account: 123456789012 },
      'account is 123456789012. Allowed: an account id of 12 digits, in quotes.',
    ],
    [{ account: '12345678901' }, 'account is "12345678901".'],
    [{ account: '{{resolve:ssm:account}}' }, 'account is "{{resolve:ssm:account}}".'],
    [{ logRetentionDays: 31 }, 'logRetentionDays is 31. Allowed: one of 1, 3, 5, 7, 14, 30, '],
    [{ loadConcurrency: 0 }, 'loadConcurrency is 0. Allowed: a whole number, 1 to 40.'],
    [
      { warmThroughput: { accountsWrites: 100 } },
      'warmThroughput.accountsWrites is 100. Allowed: a whole number, 4000 to 1000000.',
    ],
    [{ snapshotsKept: 1 }, 'snapshotsKept is 1. Allowed: a whole number, 2 to 24.'],
    [{ snapshotsKept: '3' }, 'snapshotsKept is "3". Allowed: a whole number, 2 to 24.'],
    [{ guard: { maximumShare: 5 } }, 'guard.maximumShare is 5. Allowed: a number, 0 to 1.'],
    [{ alarmEmail: 'ops' }, 'alarmEmail is "ops". Allowed: an e-mail address.'],
    [
      { source: 'http://example.nl/x.zip' },
      'source is "http://example.nl/x.zip". Allowed: an `https://` address',
    ],
    [{ schedule: 'daily' }, 'schedule is "daily". Allowed: `off`, or `cron(MINUTE HOUR DAY'],
    [{ schedule: 'cron(0 5 * * * *)' }, 'with `?` for the day or the weekday'],
    [{ schedule: 'cron(0 5 ? * ? *)' }, 'with `?` for the day or the weekday'],
    [{ schedule: 'cron(60 5 * * ? *)' }, 'schedule is "cron(60 5 * * ? *)"'],
    [{ schedule: 'cron(0 24 * * ? *)' }, 'schedule is "cron(0 24 * * ? *)"'],
    [{ removalPolicy: 'keep' }, 'removalPolicy is "keep". Allowed: `retain` or `destroy`.'],
    [
      { encryptionKey: 'alias/mine' },
      'encryptionKey is "alias/mine". Allowed: `aws`, `create` or the ARN',
    ],
    [
      { tags: { 'aws:team': 'x' } },
      'tags.aws:team is "aws:team". Allowed: names and values of letters',
    ],
    [{ tags: { stage: 'x' } }, 'without application, stage and version, which are set already.'],
    [
      { tags: { team: '{{resolve:ssm:team}}' } },
      'tags.team is "{{resolve:ssm:team}}". Allowed: names and values',
    ],
    [{ tags: { team: 5 } }, 'tags.team is 5. Allowed: names and values of letters'],
    ...[
      'http://adres.example.nl',
      'https://adres.example.nl/',
      'https://adres.example.nl/v1',
      'https://adres.example.nl?key=1',
      'https://user@adres.example.nl',
      'https://Adres.example.nl',
      'https://adres',
      'adres.example.nl',
    ].map((publicUrl): [object, string] => [
      { api: { publicUrl } },
      `api.publicUrl is "${publicUrl}". Allowed: an \`https://\` address of a host in lower case, without a path, a query or a slash at the end`,
    ]),
    [
      { domain: { ...domain, certificateArn: undefined } },
      'domain.certificateArn is missing. Allowed: the ARN',
    ],
    ['prod', 'bagAdres is invalid (its value is not shown here). Allowed: stage, region, '],
  ])('refuses %j, with the field and the allowed values', (record, message) => {
    expectFault(record, message);
  });

  it.each([
    [
      { domain: { ...domain, name: 'adres.example.com' } },
      'domain.name is adres.example.com, which is not in the zone example.nl',
    ],
    [
      { domain: { ...domain, hostedZoneId: undefined } },
      'domain has one of hostedZoneId and hostedZoneName. Give both, or none for DNS elsewhere.',
    ],
    [
      { domain: { ...domain, name: 'myexample.nl' } },
      'domain.name is myexample.nl, which is not in the zone',
    ],
    [
      { domain, region: 'eu-west-1' },
      'domain.certificateArn is in eu-central-1 but bagAdres.region is "eu-west-1"',
    ],
    [
      { encryptionKey: 'arn:aws:kms:eu-west-1:123456789012:key/0a1b' },
      'encryptionKey is in eu-west-1 but',
    ],
    [
      { region: 'eu-central-9' },
      'region is "eu-central-9", which the installed version of the CDK does not know. Did you mean eu-central-1?',
    ],
    [
      { portal: { domain: portalDomain, signIn, cognitoPrefix: 'adres' } },
      'portal has signIn and cognitoPrefix, which is for the user pool that exists only without signIn.',
    ],
    [
      { portal: { domain: portalDomain, operators: operatorsOf(50) } },
      'operators: the portal has room for 2800. Name a group of your provider in portal.operatorClaim instead',
    ],
    [
      { portal: { domain: portalDomain }, api: { publicUrl: `https://${portalDomain.name}` } },
      'api.publicUrl is at the host of the portal, portal.example.nl: give the API another one.',
    ],
    [
      {
        canary: {
          keySecretName: 'x',
          postcode: '1012RJ',
          huisnummer: 147,
          usesPublicUrl: true,
        },
      },
      'canary.usesPublicUrl is true, but there is no bagAdres.api.publicUrl. Set it, or remove',
    ],
    [{ removalPolicy: 'destroy' }, 'removalPolicy is "destroy" but bagAdres.stage is "prod"'],
    [
      { stage: 'trial', removalPolicy: 'destroy', usage: { statementLockYears: 7 } },
      'usage.statementLockYears is 7 but bagAdres.removalPolicy is "destroy": nobody could take it down.',
    ],
    [
      { throttle: { ratePerSecond: 1000, burst: 10 } },
      'throttle.burst is 10, less than a tenth of ratePerSecond (1000)',
    ],
    [
      { reservedConcurrency: 5, provisionedConcurrency: 6 },
      'provisionedConcurrency is 6, more than reservedConcurrency (5)',
    ],
    [
      { domain, account: '999999999999' },
      'domain.certificateArn belongs to account 123456789012, but bagAdres.account is "999999999999"',
    ],
  ])('refuses contradictory fields: %j', (record, message) => {
    expectFault(record, message);
  });

  it('refuses a stage of bag-adres.json without an account, with the line to add, and no settings elsewhere', () => {
    expect(() => parseConfig({ stage: 'test' }, 'bag-adres.json')).toThrow(
      /- account is missing.*Add "account": "123456789012" to stages\.test/,
    );
    expect(parseConfig({ account: '123456789012' }, 'bag-adres.json')).toMatchObject({
      stage: 'prod',
    });
    for (const source of ['cdk.json', 'the props of App']) {
      expect(parseConfig({}, source)).toMatchObject({ stage: 'prod' });
    }
  });

  it('names the faults of fields and of fields together at once, and none of a field that is invalid itself', () => {
    const found = faults({
      removalPolicy: 'destroy',
      tracing: 'yes',
      encryptionKey: 'mine',
      unknown: 1,
    }).join('\n');
    expect(found).toMatch(/tracing is "yes"/);
    expect(found).toMatch(/unknown is not known/);
    expect(found).toMatch(/removalPolicy is "destroy" but .*stage is "prod"/);
    expect(faults({ removalPolicy: 'destroy', stage: 'PROD' })).toHaveLength(1);
  });

  it('shows no value that may be a secret, in whatever field it was pasted', () => {
    const { privateKey } = generateKeyPairSync('rsa', { modulusLength: 1024 });
    const pem = privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
    const der = privateKey.export({ type: 'pkcs8', format: 'der' }).toString('base64');
    const key = `bagadres_acme_${'a1B2'.repeat(10)}`;
    for (const [secret, record] of [
      [der, { canary: { keySecretName: der } }],
      [pem, { tags: { team: pem } }],
      [pem, { alarmEmail: pem }],
      [der, { branding: { name: der } }],
      [pem, { [pem]: 1 }],
      [pem, { tags: { [pem]: pem } }],
      ['not a name, but the secret', { canary: { keySecretName: 'not a name, but the secret' } }],
      [
        'geheim!',
        { portal: { domain: portalDomain, signIn: { ...signIn, clientSecretName: 'geheim!' } } },
      ],
      [key, { alarmEmail: key }],
    ] as const) {
      const said = faults(record).join(' ');
      expect(said).toMatch(/not shown here|bagadres_\.\.\.|\(a private key\)/);
      for (const part of [
        secret,
        secret.slice(0, 40),
        secret.slice(30, 60) || secret,
        secret.slice(-40),
      ]) {
        expect(said).not.toContain(JSON.stringify(part).slice(1, -1));
      }
    }
  });

  it('accepts the operators of a large team', () => {
    expect(faults({ portal: { domain: portalDomain, operators: operatorsOf(20) } })).toEqual([]);
  });

  it('accepts a multi-Region key wherever it takes a key, in the region of the stage', () => {
    const withKey = (region: string) => {
      const key = `arn:aws:kms:${region}:123456789012:key/mrk-1234abcd12ab34cd56ef1234567890ab`;
      return faults({
        encryptionKey: key,
        tables: { accounts: { name: 'restored', keyArn: key } },
        canary: {
          keySecretName: 'x',
          keySecretKeyArn: key,
          postcode: '1012RJ',
          huisnummer: 147,
        },
        portal: {
          domain: portalDomain,
          signIn: { ...signIn, clientSecretName: 'x', clientSecretKeyArn: key },
        },
      });
    };
    expect(withKey('eu-central-1')).toEqual([]);
    expect(withKey('eu-west-1')).toEqual(
      [
        'encryptionKey',
        'tables.accounts.keyArn',
        'canary.keySecretKeyArn',
        'portal.signIn.clientSecretKeyArn',
      ].map((field) => expect.stringContaining(`${field} is in eu-west-1 but bagAdres.region is`)),
    );
  });

  it('accepts regions and keys of every partition', () => {
    for (const [region, partition] of [
      ['eusc-de-east-1', 'aws-eusc'],
      ['cn-north-1', 'aws-cn'],
      ['us-gov-west-1', 'aws-us-gov'],
    ]) {
      expect(
        faults({ region, encryptionKey: `arn:${partition}:kms:${region}:123456789012:key/0a1b` }),
      ).toEqual([]);
    }
  });

  it.each([
    'off',
    'rate(1 day)',
    'rate(12 hours)',
    'cron(0/30 5,17 ? * MON-FRI *)',
    'cron(15 4 8-20 * ? 2027)',
  ])('accepts the schedule %s', (schedule) => {
    expect(faults({ schedule })).toEqual([]);
  });

  it('accepts tags in any script', () => {
    expect(
      faults({ tags: { Stage: 'x', 'kosten plaats': 'Gemeente Súdwest-Fryslân: 12/3' } }),
    ).toEqual([]);
  });

  it('accepts a stage that only resembles the name of a stack', () => {
    for (const stage of ['metadata', 'data-2', 'loaders']) {
      expect(parseConfig({ stage })).toMatchObject({ stage });
    }
  });

  it('reports all errors at once', () => {
    expect(faults({ stage: 'A', snapshotsKept: 99, alarmMail: 'x' })).toHaveLength(3);
  });
});
