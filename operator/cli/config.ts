import { ConfigError } from '../../lib/config/config-error.ts';
import { logoFault } from '../../lib/config/logo.ts';
import type { Config } from '../../lib/config/schema.ts';
import { parseConfig } from '../config/parse-config.ts';
import {
  readSettingsFile,
  type Settings,
  type SettingsFile,
  settingsFileName,
  settingsOfStage,
} from '../config/settings.ts';
import { CommandError } from '../connect/errors.ts';
import { type CliCommand, folderOf, type Result } from './command.ts';
import { table } from './table.ts';

/** The settings file of a folder. @throws ConfigError, CommandError */
function fileIn(folder: string): SettingsFile {
  const file = readSettingsFile(folder);
  if (file) return file;
  const message = `There is no ${settingsFileName} here. Run "npx bag-adres init", or go to the folder that has it.`;
  throw new CommandError('no_settings', message);
}

/** The checked configuration of one stage: the one named, else the stage that a plain `cdk deploy` deploys. */
export function configIn(folder: string, stage?: string): Config {
  const { record, source } = settingsOfStage(fileIn(folder), stage);
  return parseConfig(record, source);
}

/** A field of a configuration that is no group of others. */
type ConfigField = { name: string; value: unknown; origin: string };

/** Every field of a configuration, and where its value is from. */
function fieldsOf(config: Config, { layers }: Settings): ConfigField[] {
  return leaves(config, []).map(({ path, value }) => ({
    name: path.join('.'),
    value,
    origin: layers.find(({ fields }) => valueAt(fields, path) !== undefined)?.origin ?? 'default',
  }));
}

function leaves(value: unknown, path: string[]): { path: string[]; value: unknown }[] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isGroup || Object.keys(value).length === 0) return [{ path, value }];
  return Object.entries(value).flatMap(([name, inner]) => leaves(inner, [...path, name]));
}

function valueAt(record: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>((at, name) => (at as Record<string, unknown> | undefined)?.[name], record);
}

/** `config check` and `config show`. */
export function addConfigCommands(program: CliCommand): void {
  const config = program.command('config').description('check and show the settings of this folder');
  const folder = folderOf(program.terminal);
  config
    .command('check')
    .description('check the settings of each stage, without AWS')
    .option('--stage <name>', 'only this stage')
    .option('--json', 'print JSON: {"stages": [{"stage", "faults"}]}')
    .does(({ stage }: { stage?: string }) => check(folder, stage));
  config
    .command('show')
    .description('print the effective settings, and where each comes from')
    .option('--stage <name>', 'this stage (default: that of a "cdk deploy" without a stage)')
    .option('--json', 'print JSON: {"stage", "settings", "origins"}')
    .examples('config show --stage prod')
    .does(({ stage }: { stage?: string }) => show(folder, stage));
}

function check(folder: string, named?: string): Result {
  const file = fileIn(folder);
  const stages = (named === undefined ? Object.keys(file.stages) : [named]).map((stage) => {
    return { stage, faults: faultsOf(settingsOfStage(file, stage), folder) };
  });
  const invalid = stages.filter(({ faults }) => faults.length > 0).map(({ stage }) => stage);
  const message = `The settings of ${invalid.join(', ')} are not valid. Correct them.`;
  return {
    json: { stages },
    text: stages
      .flatMap(({ stage, faults }) => [
        faults.length === 0 ? `${stage}: valid` : `${stage}: ${faults.length} fault(s)`,
        ...faults.map((fault) => `  - ${fault}`),
      ])
      .join('\n'),
    failure: invalid.length > 0 ? new CommandError('invalid_settings', message) : undefined,
  };
}

function faultsOf({ record, source }: Settings, folder: string): readonly string[] {
  try {
    const fault = logoFault(parseConfig(record, source).branding.logo, folder);
    return fault ? [fault] : [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

function show(folder: string, named?: string): Result {
  const config = configIn(folder, named);
  const { stage } = config;
  const fields = fieldsOf(config, settingsOfStage(fileIn(folder), stage));
  const origins = Object.fromEntries(fields.map(({ name, origin }) => [name, origin]));
  const rows = fields.map(({ name, value, origin }) => [
    name,
    typeof value === 'string' ? value : JSON.stringify(value),
    origin,
  ]);
  return {
    json: { stage, settings: config, origins },
    text: table(['setting', 'value', 'from'], rows),
    isVerbatim: true,
  };
}
