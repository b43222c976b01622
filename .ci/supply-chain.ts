/**
 * Checks what is installed: licences and integrity from package-lock.json alone, so offline too,
 * and known vulnerabilities where the registry answers. `npm run check:supply-chain`.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

/**
 * SPDX ids of licences that let anyone use, change and redistribute an MIT licensed project that
 * contains the package.
 */
const permissive = new Set(
  'MIT MIT-0 ISC 0BSD BSD BSD-2-Clause BSD-3-Clause Apache-2.0 BlueOak-1.0.0 Python-2.0 Unlicense CC0-1.0'.split(
    ' ',
  ),
);
/** Only for tools that are neither bundled nor run by a deployment. */
const forDevelopment = new Set([...permissive, 'MPL-2.0', 'CC-BY-4.0', 'WTFPL']);
/** Packages whose manifest names no licence, with what their licence file says. */
const unnamed = new Map(
  [
    'compute-gcd',
    'compute-lcm',
    'decko',
    'pastable',
    'reserved',
    'stickyfill',
    'validate.io-function',
    'validate.io-integer',
    'validate.io-integer-array',
    'validate.io-number',
  ].map((name) => [name, 'MIT']),
);

/**
 * Whether an SPDX expression can be met with `allowed` licences: one side of an OR, both sides of
 * an AND. An exception (`WITH`) or anything else that is not understood is not allowed.
 */
export function isAllowed(expression: string, allowed: ReadonlySet<string>): boolean {
  const tokens: string[] = expression.match(/\(|\)|[^\s()]+/g) ?? [];
  let at = 0;
  function any(): boolean {
    let met = all();
    while (tokens[at] === 'OR') {
      at++;
      met = all() || met;
    }
    return met;
  }
  function all(): boolean {
    let met = one();
    while (tokens[at] === 'AND') {
      at++;
      met = one() && met;
    }
    return met;
  }
  function one(): boolean {
    const token = tokens[at++] ?? '';
    if (token !== '(') return allowed.has(token);
    const met = any();
    return tokens[at++] === ')' && met;
  }
  const met = any();
  return met && at === tokens.length;
}

type LockedPackage = {
  license?: unknown;
  integrity?: string;
  dev?: boolean;
  link?: boolean;
  inBundle?: boolean;
  hasInstallScript?: boolean;
};

/**
 * The embedded engine for platforms whose package could not be fetched where the lock file is made:
 * npm does not verify these.
 */
const unverified = new Set(
  ['darwin-arm64', 'darwin-x64', 'linux-arm64', 'win32-x64'].map((name) => `@dynoxide/${name}`),
);

/** Packages that report from whoever installs them. */
const telemetry = new Set(['@scarf/scarf']);

/** What is wrong with the packages of a lock file: a sentence for each. */
export function lockFindings(lock: { packages: Record<string, LockedPackage> }): string[] {
  return Object.entries(lock.packages).flatMap(
    ([path, { license, integrity, dev, link, inBundle }]) => {
      if (path === '' || link) return [];
      const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
      const named = typeof license === 'string' ? license : unnamed.get(name);
      const findings: string[] = [];
      if (named === undefined) {
        findings.push(`${path}: names no licence; read it and add it to .ci/supply-chain.ts`);
      } else if (!isAllowed(named, dev ? forDevelopment : permissive)) {
        findings.push(
          `${path}: licence ${named} is not on the list for ${dev ? 'development' : 'production'}`,
        );
      }
      // Files of a bundled package are part of the package around it.
      if (!integrity && !inBundle && !unverified.has(name)) {
        findings.push(`${path}: has no integrity in package-lock.json`);
      }
      return findings;
    },
  );
}

/**
 * Install scripts that an installation would run, and telemetry: a sentence for each.
 * @param refused the `allowScripts` of package.json
 */
export function scriptFindings(
  lock: { packages: Record<string, LockedPackage> },
  refused: Record<string, boolean> = {},
): string[] {
  return Object.entries(lock.packages).flatMap(([path, { hasInstallScript }]) => {
    const name = path.slice(path.lastIndexOf('node_modules/') + 'node_modules/'.length);
    // Ours deletes the headers of Node, 67 MB, that nothing here compiles against.
    if (path === '') return [];
    if (telemetry.has(name)) {
      return [
        `${path}: is telemetry. Remove what depends on it, or keep that out of the installation`,
      ];
    }
    if (hasInstallScript && refused[name] !== false) {
      return [
        `${path}: has an install script. Read it, and refuse it in allowScripts of package.json`,
      ];
    }
    return [];
  });
}

/** Actions of a workflow that are not pinned to a commit: a sentence for each. */
export function unpinnedActions(file: string, workflow: string): string[] {
  return [...workflow.matchAll(/uses: (\S+)(.*)/g)]
    .filter(
      ([, action = '', comment = '']) => !/@[0-9a-f]{40}$/.test(action) || !/# v\d/.test(comment),
    )
    .map(
      ([, action]) => `${file}: ${action} is not pinned to a commit with its version in a comment`,
    );
}

type Manifest = Partial<
  Record<'dependencies' | 'devDependencies' | 'optionalDependencies', Record<string, string>>
>;

/** Dependencies of package.json that are not pinned to one version. */
export function unpinned({
  dependencies,
  devDependencies,
  optionalDependencies,
}: Manifest): string[] {
  return Object.entries({ ...dependencies, ...devDependencies, ...optionalDependencies })
    .filter(([, version]) => !/^\d+\.\d+\.\d+$/.test(version))
    .map(([name, version]) => `package.json: ${name} ${version} is not an exact version`);
}

type Vulnerability = { name: string; severity: string; via: (string | { url: string })[] };

/**
 * What `npm audit --json` reported: a sentence for each package with a high or critical
 * vulnerability, or `undefined` where there is no report, because the registry did not answer.
 */
export function auditFindings(output: string): string[] | undefined {
  let report: { vulnerabilities?: Record<string, Vulnerability> | null };
  try {
    report = JSON.parse(output);
  } catch {
    return undefined;
  }
  if (typeof report.vulnerabilities !== 'object' || report.vulnerabilities === null) {
    return undefined;
  }
  return Object.values(report.vulnerabilities)
    .filter(({ severity }) => severity === 'high' || severity === 'critical')
    .map(
      ({ name, severity, via }) =>
        `${name}: ${severity}, ${via.map((from) => (typeof from === 'string' ? from : from.url)).join(' ')}`,
    );
}

/** Every lock file of the repository: its packages are held to the same rules. */
export const lockFiles = [
  'package-lock.json',
  '.ci/tools/package-lock.json',
  '.ci/tools/stryker/package-lock.json',
  'test/packages/form/frameworks/package-lock.json',
  'tools/generators/package-lock.json',
  'tools/judges/nag/package-lock.json',
  'tools/judges/proxy/package-lock.json',
  'tools/openapi-rules/package-lock.json',
  'tools/package/tools/package-lock.json',
];

async function main() {
  const read = (name: string) =>
    JSON.parse(readFileSync(new URL(`../${name}`, import.meta.url), 'utf8'));
  const locks = lockFiles.map(read);
  const manifests = lockFiles.map((name) => read(name.replace('package-lock', 'package')));
  const workflows = readdirSync(new URL('../.github/workflows', import.meta.url)).map(
    (name) => `.github/workflows/${name}`,
  );
  const findings = [
    ...locks.flatMap(lockFindings),
    // The other lock files are installed without scripts, by `test/support/install-tools.ts`.
    ...scriptFindings(locks[0], manifests[0].allowScripts),
    ...manifests.flatMap(unpinned),
    ...[...workflows, 'docs/examples/pipeline/deploy.yml'].flatMap((name) =>
      unpinnedActions(name, readFileSync(new URL(`../${name}`, import.meta.url), 'utf8')),
    ),
  ];
  const output = await new Promise<string>((resolve) => {
    // npm exits with 1 both for a finding and for no answer: its output tells which.
    execFile(
      'npm',
      ['audit', '--json', '--omit=dev', '--fetch-retries=0'],
      { timeout: 30_000 },
      (_, stdout) => resolve(stdout),
    );
  });
  const vulnerable = auditFindings(output);
  console.log(
    `Licences, integrity and versions of ${locks.flatMap(({ packages }) => Object.keys(packages).slice(1)).length} packages: checked.`,
  );
  console.log(
    vulnerable
      ? `Known vulnerabilities of production dependencies: ${vulnerable.length} high or critical.`
      : 'Known vulnerabilities: NOT checked, because the registry gave no advisories. Run "npm audit" where it does.',
  );
  for (const finding of [...findings, ...(vulnerable ?? [])]) console.error(finding);
  process.exitCode = findings.length + (vulnerable ?? []).length === 0 ? 0 : 1;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) await main();
