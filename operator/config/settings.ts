import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import * as z from 'zod';
import { nearest } from '../../core/similar.ts';
import { ConfigError } from '../../lib/config/config-error.ts';
import { configSchema } from '../../lib/config/config-schema.ts';
import { settingsFileName } from '../../lib/config/deployment.ts';

/** The context key of settings; `-c bagAdres.stage=test` overrides a field on the command line. */
const KEY = 'bagAdres';

/** Keys that `cdk cli-telemetry` and `cdk acknowledge` write to `cdk.context.json`. */
const toolKeys = new Set(['cli-telemetry', 'acknowledged-issue-numbers']);

/**
 * Settings that stages can't share: each belongs to one account, or is a name that exists once. If
 * another stage inherited them, a deployment to test would take over the host name of production.
 */
export const stageFields = [
  'account',
  'domain',
  'api',
  'portal',
  'encryptionKey',
  'backupVaultArn',
  'tables',
];

type SettingsRecord = Record<string, unknown>;

/** The contents of `bag-adres.json`: what all stages share, and what differs. */
export type SettingsFile = { shared: SettingsRecord; stages: Record<string, SettingsRecord> };

/** The possible sources of a field; the first that has it counts. */
export type SettingsLayer = { origin: string; fields: SettingsRecord };

/** The settings of one stage, unchecked. */
export type Settings = {
  /** The file that they are from, for messages. */
  source: string;
  layers: readonly SettingsLayer[];
  /** All layers in one: what `parseConfig` takes. */
  record: unknown;
};

const fields = z.record(z.string(), z.unknown());
const fileSchema = z.strictObject({
  $schema: z.string().optional(),
  shared: fields.default({}),
  stages: z.record(configSchema.shape.stage.unwrap(), fields),
});

/** Reads `bag-adres.json` of a folder; undefined if it has none. @throws ConfigError */
export function readSettingsFile(folder: string): SettingsFile | undefined {
  const path = join(folder, settingsFileName);
  if (!existsSync(path)) return undefined;
  try {
    return checkSettingsFile(JSON.parse(readFileSync(path, 'utf8')));
  } catch (error) {
    if (error instanceof ConfigError) throw error;
    throw new ConfigError([`It is not JSON: ${(error as Error).message}.`], settingsFileName);
  }
}

/** Returns the contents of `bag-adres.json`. @throws ConfigError if they have another form */
export function checkSettingsFile(contents: unknown): SettingsFile {
  const parsed = fileSchema.safeParse(contents);
  if (!parsed.success) {
    throw new ConfigError(parsed.error.issues.flatMap(describe), settingsFileName);
  }
  const { shared, stages } = parsed.data;
  const names = Object.keys(stages);
  const needless = (at: string) =>
    `${at}.stage is not needed: the name of a stage is its key in stages. Remove it.`;
  const own = (field: string) =>
    `shared.${field} can't be shared by stages. Move it to one stage, for instance to stages.prod.`;
  const faults = [
    ...(names.length === 0 ? ['stages is empty. Add one, for instance "prod": {}.'] : []),
    ...('stage' in shared ? [needless('shared')] : []),
    ...stageFields.filter((field) => field in shared).map(own),
    ...names
      .filter((name) => 'stage' in (stages[name] ?? {}))
      .map((name) => needless(`stages.${name}`)),
  ];
  if (faults.length > 0) throw new ConfigError(faults, settingsFileName);
  return { shared, stages };
}

function describe(issue: z.core.$ZodIssue): string[] {
  const at = issue.path.join('.');
  if (issue.code === 'unrecognized_keys') {
    return issue.keys.map((key) => {
      const field =
        key in configSchema.shape
          ? ' A setting belongs into shared, or into a stage under stages.'
          : '';
      const guess = nearest(key, ['shared', 'stages']);
      return `${key} is not known.${field || (guess ? ` Did you mean ${guess}?` : '')} Allowed: $schema, shared, stages.`;
    });
  }
  if (issue.code === 'invalid_key') return [`${at}: the name of a stage is ${stageForm}.`];
  return [`${at || 'It'} must be an object, for instance {"shared":{},"stages":{"prod":{}}}.`];
}

const stageForm = String(z.globalRegistry.get(configSchema.shape.stage.unwrap())?.allowed);

/**
 * The settings in a CDK context and in `bag-adres.json`, overridden by single fields from the
 * command line. The CDK's own keys contain a slash or a colon, except two.
 * @throws ConfigError for any other key, for settings in both places, and for a stage that the file
 * does not have
 */
export function readSettings(context: SettingsRecord, file?: SettingsFile): Settings {
  const unknown = Object.keys(context).filter(
    (key) => !/[/:]|^bagAdres($|\.)/.test(key) && !toolKeys.has(key),
  );
  if (unknown.length > 0) {
    throw new ConfigError(
      unknown.map(
        (key) => `${key} is not known. Allowed: fields of ${KEY}, ${KEY}.stage for instance.`,
      ),
    );
  }
  const given = context[KEY] ?? {};
  if (!isFields(given)) return { source: 'cdk.json', layers: [], record: given };
  const commandLine: SettingsLayer = { origin: 'the command line', fields: {} };
  for (const [key, value] of Object.entries(context)) {
    if (key.startsWith(`${KEY}.`)) {
      assign(commandLine.fields, key.slice(KEY.length + 1).split('.'), literal(value));
    }
  }
  if (!file) return settings('cdk.json', [commandLine, { origin: 'cdk.json', fields: given }]);
  if (Object.keys(given).length > 0) {
    throw new ConfigError([
      `${settingsFileName} exists too, and only one file may have settings. Move the settings in cdk.json there.`,
    ]);
  }
  return ofFile(file, commandLine, `-c ${KEY}.stage=`);
}

/**
 * The settings of a stage of `bag-adres.json`. @throws ConfigError for a stage that it does not
 * have
 */
export function settingsOfStage(file: SettingsFile, stage?: string): Settings {
  return ofFile(
    file,
    { origin: 'the command line', fields: stage === undefined ? {} : { stage } },
    '--stage ',
  );
}

/** @param option how the reader of the settings names a stage */
function ofFile(
  { shared, stages }: SettingsFile,
  commandLine: SettingsLayer,
  option: string,
): Settings {
  const names = Object.keys(stages);
  // The only stage, or else `prod`: what `cdk deploy` without a stage means.
  const usual = names.length === 1 ? names[0] : names.find((name) => name === 'prod');
  const stage = commandLine.fields.stage ?? usual;
  const own = typeof stage === 'string' ? stages[stage] : undefined;
  if (!own) {
    const wanted =
      stage === undefined ? 'Which stage?' : `There is no stage ${JSON.stringify(stage)}.`;
    const advice = `It has ${names.join(', ')}: name one, for instance with ${option}${names[0]}`;
    throw new ConfigError([`${wanted} ${advice}, or add it under stages.`], settingsFileName);
  }
  const { stage: _, ...overrides } = commandLine.fields;
  return settings(settingsFileName, [
    { ...commandLine, fields: overrides },
    { origin: `stages.${stage}`, fields: { ...own, stage } },
    { origin: 'shared', fields: shared },
  ]);
}

/** The place of a stage, or the names of the existing stages if it is missing. */
export type StagePlace =
  | { readonly account: string | undefined; readonly region: string }
  | { readonly stages: readonly string[] };

/**
 * The account and the region of a stage by the settings of a folder; undefined if it has none.
 * Invalid settings count as absent, because an emergency can't wait; `config check` reports their
 * faults.
 */
export function placeOfStage(folder: string, stage: string): StagePlace | undefined {
  let file: SettingsFile | undefined;
  try {
    file = readSettingsFile(folder);
  } catch (error) {
    if (error instanceof ConfigError) return undefined;
    throw error;
  }
  if (!file) return undefined;
  if (!Object.hasOwn(file.stages, stage)) return { stages: Object.keys(file.stages) };
  const { account, region } = settingsOfStage(file, stage).record as SettingsRecord;
  const { shape } = configSchema;
  return {
    account: shape.account.safeParse(account).data,
    region: shape.region.safeParse(region).data ?? shape.region.parse(undefined),
  };
}

function settings(source: string, layers: readonly SettingsLayer[]): Settings {
  const record = layers
    .toReversed()
    .reduce<SettingsRecord>((merged, layer) => merge(merged, layer.fields), {});
  return { source, layers, record };
}

/** Groups of fields are merged, anything else is replaced. */
function merge(under: SettingsRecord, over: SettingsRecord): SettingsRecord {
  const merged = { ...under };
  for (const [name, value] of Object.entries(over)) {
    const below = merged[name];
    merged[name] = isFields(value) && isFields(below) ? merge(below, value) : value;
  }
  return merged;
}

function isFields(value: unknown): value is SettingsRecord {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

function assign(
  record: SettingsRecord,
  [name = '', ...rest]: readonly string[],
  value: unknown,
): void {
  const inner = record[name];
  const child = isFields(inner) ? inner : {};
  record[name] = rest.length === 0 ? value : child;
  if (rest.length > 0) assign(child, rest, value);
}

/** Values from the command line are text: `30` and `true` mean the same as in JSON. */
function literal(value: unknown): unknown {
  // The id of an account is digits, but no number.
  if (typeof value !== 'string' || /^\d{12}$/.test(value)) return value;
  try {
    return JSON.parse(value);
  } catch {
    return value;
  }
}
