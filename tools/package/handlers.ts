import { execFile } from 'node:child_process';
import { existsSync, globSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { run } from './checks.ts';

/**
 * A function of a template: its module in the assets, what it exports, and its variables as far as
 * they are known.
 */
type DeployedFunction = {
  id: string;
  module: string;
  name: string;
  variables: Record<string, string>;
};

type Resource = {
  Type: string;
  Properties: {
    Code: { S3Key: string };
    Handler: string;
    Environment?: { Variables: Record<string, unknown> };
  };
};

/**
 * Synthesizes what the installed package deploys with these settings, to `out`, in the folder of an
 * operator.
 */
export async function synthesizeInstalled(
  installed: string,
  out: string,
  settings: Readonly<Record<string, unknown>>,
  cwd: string,
): Promise<void> {
  const variables = { CDK_OUTDIR: out, CDK_CONTEXT_JSON: JSON.stringify({ bagAdres: settings }) };
  await run(cwd, process.execPath, [join(installed, 'bin/app.js')], variables);
}

/**
 * Imports the handler of each function in the templates of an assembly, as Lambda does, with the
 * variables of the function. Returns how many there are, and what is wrong with each that does not
 * export its handler.
 */
export async function openHandlers(
  assembly: string,
): Promise<{ opened: number; faults: string[] }> {
  const functions = globSync('*.template.json', { cwd: assembly }).flatMap((file) =>
    functionsIn(assembly, file),
  );
  const faults: string[] = [];
  for (const { id, module, name, variables } of functions) {
    const fault = existsSync(module)
      ? await importing(module, name, variables)
      : `${module} does not exist`;
    if (fault) faults.push(`${id}: ${fault}`);
  }
  return { opened: functions.length, faults };
}

function functionsIn(assembly: string, file: string): DeployedFunction[] {
  const { Resources } = JSON.parse(readFileSync(join(assembly, file), 'utf8'));
  return Object.entries<Resource>(Resources).flatMap(([id, { Type, Properties }]) => {
    if (Type !== 'AWS::Lambda::Function') return [];
    const [stem, name = ''] = Properties.Handler.split('.');
    const inAsset = join(
      assembly,
      `asset.${Properties.Code.S3Key.replace(/\.zip$/, '')}`,
      `${stem}`,
    );
    // The functions of the CDK itself, which empty a bucket that is deleted, are CommonJS.
    const module = existsSync(`${inAsset}.js`) ? `${inAsset}.js` : `${inAsset}.mjs`;
    const variables = Object.entries(Properties.Environment?.Variables ?? {});
    const known = Object.fromEntries(variables.map(([key, value]) => [key, resolved(value)]));
    return { id: `${file} ${id}`, module, name, variables: known };
  });
}

/** The text of a value, with "x" for what only CloudFormation knows. */
function resolved(value: unknown): string {
  const { 'Fn::Join': parts, 'Fn::GetAtt': attribute } = value as {
    'Fn::Join'?: [string, unknown[]];
    'Fn::GetAtt'?: string[];
  };
  const unknown = attribute?.[1]?.endsWith('URL') ? 'https://example.invalid' : 'x';
  const text = parts
    ? parts[1].map(resolved).join(parts[0])
    : typeof value === 'string'
      ? value
      : unknown;
  return text.replace(/\{\{resolve:[^}]*\}\}/g, 'x');
}

async function importing(
  module: string,
  name: string,
  variables: Record<string, string>,
): Promise<string | undefined> {
  const script = `const loaded = await import(${JSON.stringify(pathToFileURL(module).href)});
    if (typeof (loaded.${name} ?? loaded.default?.${name}) !== 'function') throw new Error('exports no function ${name}');
    process.exit(0);`;
  const credentials = {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'x',
    AWS_SECRET_ACCESS_KEY: 'x',
  };
  // Nobody listens there: what a function reads at its start is not what is looked for.
  // CommonJS finds the SDK that the runtime of Lambda has; ES modules ignore this variable.
  const NODE_PATH = resolve(import.meta.dirname, '../../node_modules');
  const env = { ...credentials, NODE_PATH, AWS_ENDPOINT_URL: 'http://127.0.0.1:1', ...variables };
  try {
    await promisify(execFile)(process.execPath, ['--input-type=module', '-e', script], { env });
    return undefined;
  } catch (error) {
    const { stderr = `${error}` } = error as { stderr?: string };
    // Above it Node shows a line of the bundle, which may have all of it.
    return stderr.split('\n').find((line) => /^\w*Error\b/.test(line)) ?? stderr.slice(-600);
  }
}
