import { settingsFileName } from '../../lib/config/deployment.ts';
import { checkSettingsFile } from '../config/settings.ts';
import { CommandError } from '../deployment/errors.ts';

type Json = Record<string, unknown>;

/** An operator's answers, or the options instead. */
export type Answers = {
  region?: string | undefined;
  alarmEmail?: string | undefined;
  /** The AWS account of each stage that has one; the stages are `test` and `prod`. */
  accounts: Readonly<Record<string, string>>;
};

/** The name of the folder, and the text of a file in it; undefined if it does not exist. */
export type ExistingFolder = { name: string; read: (path: string) => string | undefined };

/**
 * The files that `init` would write, and whether each already exists, and the files that it keeps.
 */
export type Repository = {
  files: { path: string; text: string; wasThere: boolean }[];
  kept: string[];
};

/**
 * The files of an operator's repository. A file that exists is kept, except that `package.json`
 * gets the dependencies and `.gitignore` the missing lines.
 * @param versions of this package and of the packages that it needs, by name
 * @param pipeline the text of the workflow
 * @throws CommandError `init` if the folder has files that it must not touch
 */
export function repository(
  found: ExistingFolder,
  answers: Answers,
  versions: Readonly<Record<string, string>>,
  pipeline: string,
): Repository {
  const cdk = readJson(found, 'cdk.json');
  const packageJson = readJson(found, 'package.json');
  if (packageJson?.name === 'bag-adres') {
    throw fault('This is a clone of bag-adres. Run "npx bag-adres init" in a folder of your own.');
  }
  if (cdk && !String(cdk.app).includes('bag-adres')) {
    throw fault(
      'cdk.json belongs to another app. Run "npx bag-adres init" in a folder of its own, or use the construct BagAdres in that app.',
    );
  }
  const name = nameOf(found.name);
  const wanted: Record<string, (now: string | undefined) => string> = {
    'package.json': () => json(withDependencies(packageJson ?? { name, private: true }, versions)),
    'cdk.json': (now) => now ?? json({ app: 'npx --no bag-adres app' }),
    [settingsFileName]: (now) => now ?? json(settingsFile(answers)),
    '.github/workflows/deploy.yml': (now) => now ?? pipeline,
    // The pipeline and version managers read it.
    '.nvmrc': (now) => now ?? '24\n',
    '.gitignore': (now) => withLines(now ?? '', ['node_modules/', 'cdk.out/', '*.log']),
    'README.md': (now) => now ?? readme(name),
  };
  const made: Repository = { files: [], kept: [] };
  for (const [path, textOf] of Object.entries(wanted)) {
    const now = found.read(path);
    const text = textOf(now);
    if (now === text) made.kept.push(path);
    else {
      made.files.push({ path, text, wasThere: now !== undefined });
    }
  }
  return made;
}

const fault = (message: string) => new CommandError('init', message);

function readJson({ read }: ExistingFolder, path: string): Json | undefined {
  const text = read(path);
  if (text === undefined) return undefined;
  try {
    return JSON.parse(text);
  } catch (error) {
    throw fault(
      `${path} is not JSON: ${(error as Error).message}. Correct it, then run this again.`,
    );
  }
}

/** The dependencies are pinned; an existing file or another version stays. */
function withDependencies(packageJson: Json, versions: Readonly<Record<string, string>>): Json {
  const dependencies = { ...versions, ...(packageJson.dependencies as Json | undefined) };
  const scripts = {
    check: 'bag-adres config check',
    synth: 'cdk synth --quiet',
    ...(packageJson.scripts as Json),
  };
  return { ...packageJson, private: true, scripts, dependencies };
}

function settingsFile({ region, alarmEmail, accounts }: Answers): Json {
  const shared: Json = { ...(region && { region }), ...(alarmEmail && { alarmEmail }) };
  const stages: Record<string, Json> = { test: {}, prod: {} };
  for (const [name, account] of Object.entries(accounts)) {
    stages[name] = { ...stages[name], account };
  }
  const file = { $schema: './node_modules/bag-adres/config.schema.json', shared, stages };
  checkSettingsFile(file);
  return file;
}

function withLines(text: string, lines: readonly string[]): string {
  const missing = lines.filter((line) => !text.split(/\r?\n/).includes(line));
  const before = text === '' || text.endsWith('\n') ? text : `${text}\n`;
  return missing.length === 0 ? text : `${before}${missing.join('\n')}\n`;
}

/** A name that npm accepts. */
function nameOf(folder: string): string {
  const name = folder
    .toLowerCase()
    .replace(/[^a-z0-9-]+/g, '-')
    .replace(/^-+|-+$/g, '');
  return name === '' || name === 'bag-adres' ? 'bag-adres-deployment' : name;
}

function readme(name: string): string {
  return `# ${name}

The deployment of the npm package bag-adres: settings in \`bag-adres.json\`, by stage.

- \`npm ci\`, then \`npx bag-adres config check\` and \`npx bag-adres config show --stage prod\`
- Deploy: \`npx cdk deploy --all -c bagAdres.stage=test\`; without \`-c\` the stage is \`prod\`. Each stage names its \`account\`:
  credentials of another one are refused
- Upgrade: \`npm install --save-exact bag-adres@VERSION\`, then \`npx bag-adres gate --stage test\` and deploy. To go back, install the
  version before
- Guides: \`node_modules/bag-adres/docs\`, deploy.md and runbook.md first
- The pipeline in \`.github/workflows/deploy.yml\` needs two roles: see \`docs/examples/pipeline/README.md\` in the same folder
`;
}

function json(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
