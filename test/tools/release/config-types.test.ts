import { readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { Ajv } from 'ajv';
import addFormats from 'ajv-formats';
import { configSchema } from '../../../lib/config/config-schema.ts';
import {
  configInputDeclaration,
  configJsonSchema,
  configTable,
} from '../../../tools/release/config-types.ts';
import { everything, portal } from '../../lib/synthesized.ts';

const ajv = new Ajv({ strict: false, allErrors: true });
addFormats.default(ajv);
const isValid = ajv.compile(configJsonSchema());

const { stage: _, ...fields } = everything;
const ofStage = ['domain', 'portal', 'encryptionKey', 'backupVaultArn'];
const shared = Object.fromEntries(
  Object.entries(fields).filter(([name]) => !ofStage.includes(name)),
);

describe('the JSON schema of bag-adres.json', () => {
  it('accepts every option, and a group with one part in each place', () => {
    const file = {
      $schema: './node_modules/bag-adres/config.schema.json',
      shared: { ...shared, canary: { postcode: '1012RJ', huisnummer: 147 } },
      stages: {
        test: { canary: { keySecretName: 'test' } },
        prod: { domain: everything.domain, portal },
      },
    };
    isValid(file);
    expect(isValid.errors).toBeNull();
  });

  it.each([
    [{ shared: { stage: 'x' }, stages: { prod: {} } }],
    [{ shared: { domain: everything.domain }, stages: { prod: {} } }],
    [{ stages: {} }],
    [{ stages: { 'my-data': {} } }],
    [{ stages: { prod: { alarmMail: 'x' } } }],
    [{ stages: { prod: { domain: { name: 'adres.example.nl' } } } }],
    [{ stages: { prod: { logRetentionDays: 31 } } }],
  ])('refuses %j, as config check does', (file) => {
    expect(isValid(file)).toBe(false);
  });
});

describe('the documented type of the props', () => {
  const declaration = configInputDeclaration();

  it('has every field with its description and default', () => {
    for (const name of Object.keys(configSchema.shape)) {
      expect(declaration).toMatch(new RegExp(`\\n {4}${name}\\?: `));
    }
    expect(declaration).toContain('/** The region of all stacks.');
    expect(declaration).toContain(
      'Default: `"eu-central-1"`. */\n    region?: string | undefined;',
    );
    expect(declaration).toContain('removalPolicy?: "retain" | "destroy" | undefined;');
    expect(declaration).toContain('certificateArn: string;');
  });
});

const page = new URL('../../../docs/configuration.md', import.meta.url);
const table = /^\| field \|.*\n(?:\|.*\n)+/m;

/** `UPDATE_DOCS=1 npm test -- test/tools/release` writes the page anew. */
it('the description of the schema matches the table in docs/configuration.md', () => {
  const expected = `${configTable()}\n`;
  if (process.env.UPDATE_DOCS) {
    writeFileSync(
      page,
      readFileSync(page, 'utf8').replace(table, () => expected),
    );
  }
  expect(readFileSync(page, 'utf8').match(table)?.[0]).toBe(expected);
});
