import { ConfigError } from '../../lib/config/config-error.ts';
import type { Config } from '../../lib/config/config-schema.ts';
import { settingsFileName } from '../../lib/config/deployment.ts';
import { logoFault } from '../../lib/config/logo.ts';
import type { Settings } from '../config/settings.ts';
import { CommandError } from '../connect/errors.ts';
import { type CliCommand, folderOf, type Result } from './command.ts';
import { lines, table } from './terminal-text.ts';

/** The settings in a folder, of each stage and of one, unchecked or checked. @throws ConfigError, CommandError */
async function settingsIn(folder: string) {
  // Imported here because the schema loads slower than `--help` should print.
  const { readSettingsFile, settingsOfStage } = await import('../config/settings.ts');
  const { parseConfig } = await import('../config/parse-config.ts');
  const file = readSettingsFile(folder);
  const missing = `There is no ${settingsFileName} here. Run "npx bag-adres init", or go to the folder that has it.`;
  if (!file) throw new CommandError('no_settings', missing);
  return {
    stages: Object.keys(file.stages),
    ofStage: (stage?: string) => settingsOfStage(file, stage),
    parse: ({ record, source }: Settings) => parseConfig(record, source),
  };
}

/** The checked configuration of one stage: the one named, else the stage that a plain `cdk deploy` deploys. */
export async function configIn(folder: string, stage?: string): Promise<Config> {
  const { ofStage, parse } = await settingsIn(folder);
  return parse(ofStage(stage));
}

/** Every field that is no group of others: its path and its value. */
function leaves(value: unknown, path: string[] = []): [path: string[], value: unknown][] {
  const isGroup = typeof value === 'object' && value !== null && !Array.isArray(value);
  if (!isGroup || Object.keys(value).length === 0) return [[path, value]];
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
    .option('--stage <name>', 'this stage (default: as for "cdk deploy" without a stage)')
    .option('--json', 'print JSON: {"stage", "settings", "origins"}')
    .examples('config show --stage prod')
    .does(({ stage }: { stage?: string }) => show(folder, stage));
}

async function check(folder: string, named?: string): Promise<Result> {
  const { stages: all, ofStage, parse } = await settingsIn(folder);
  const stages = (named === undefined ? all : [named]).map((stage) => {
    const settings = ofStage(stage);
    return { stage, faults: faultsIn(() => logoFault(parse(settings).branding.logo, folder)) };
  });
  const invalid = stages.filter(({ faults }) => faults.length > 0).map(({ stage }) => stage);
  const message = `The settings of ${invalid.join(', ')} are not valid. Correct them.`;
  return {
    json: { stages },
    text: lines(
      stages.map(({ stage, faults }) => [
        faults.length === 0 ? `${stage}: valid` : `${stage}: not valid`,
        faults.map((fault) => `  - ${fault}`),
      ]),
      invalid.length > 0 && message,
    ),
    failure: invalid.length > 0 ? new CommandError('invalid_settings', message, { isTold: true }) : undefined,
  };
}

function faultsIn(work: () => string | undefined): readonly string[] {
  try {
    const fault = work();
    return fault ? [fault] : [];
  } catch (error) {
    if (error instanceof ConfigError) return error.faults;
    throw error;
  }
}

async function show(folder: string, named?: string): Promise<Result> {
  const { ofStage, parse } = await settingsIn(folder);
  const settings = ofStage(named);
  const config = parse(settings);
  const rows = leaves(config).map(([path, value]) => {
    const layer = settings.layers.find(({ fields }) => valueAt(fields, path) !== undefined);
    const shown = typeof value === 'string' ? value : JSON.stringify(value);
    return [path.join('.'), shown, layer?.origin ?? 'default'] as const;
  });
  const origins = Object.fromEntries(rows.map(([name, _, origin]) => [name, origin]));
  const text = table(['setting', 'value', 'from'], rows);
  return { json: { stage: config.stage, settings: config, origins }, text, isVerbatim: true };
}
