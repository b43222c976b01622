/**
 * Makes a release: builds and packs both packages, with a bill of materials and checksums beside
 * them. `npm run release -- --dry-run --out DIR`. Without `--dry-run` it publishes, which only the
 * workflow does: it can prove where the packages are from.
 */
import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { globSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { Command } from 'commander';
import { buildPackage, sourceMapsOf } from './build-package.ts';
import { releaseProblems } from './release-problems.ts';

const root = resolve(import.meta.dirname, '../..');
const work = join(root, 'node_modules/.cache/release');

type Options = { dryRun?: true; out: string; as?: string };

/** Runs npm, whose output goes to standard error so that standard output has the result only. */
function npm(args: readonly string[], cwd: string): string {
  // The shell finds npm under Windows too. No argument is from outside but folders.
  const quoted = args.map((arg) => (/^[\w@=.:/\\-]+$/.test(arg) ? arg : JSON.stringify(arg)));
  return execFileSync(`npm ${quoted.join(' ')}`, {
    cwd,
    shell: true,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'inherit'],
    maxBuffer: 64 * 1024 * 1024,
  });
}

async function release({ dryRun, out, as }: Options): Promise<void> {
  const { version: own } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
  const version: string = as ?? own;
  const problems = releaseProblems(root, version);
  for (const problem of problems) {
    console.error(`${dryRun ? 'Before the release' : 'Not released'}: ${problem}`);
  }
  if (problems.length > 0 && !dryRun) process.exit(1);
  const folder = resolve(process.env.INIT_CWD ?? process.cwd(), out);
  mkdirSync(folder, { recursive: true });
  for (const old of globSync(['bag-adres*.tgz', 'source-maps-*.tgz'], { cwd: folder })) {
    rmSync(join(folder, old));
  }

  const built = join(work, 'bag-adres');
  const bundles = await buildPackage(built, version);
  npm(['pack', '--loglevel', 'error', '--pack-destination', folder], built);
  // They build themselves before they are packed.
  for (const name of ['admin', 'form']) {
    npm(
      ['pack', '--loglevel', 'error', '--pack-destination', folder],
      join(root, 'packages', name),
    );
  }
  execFileSync('tar', [
    '-czf',
    join(folder, `source-maps-${version}.tgz`),
    '-C',
    sourceMapsOf(built),
    '.',
  ]);
  const bom = npm(
    ['sbom', '--sbom-format', 'cyclonedx', '--omit', 'dev', '--package-lock-only'],
    root,
  );
  writeFileSync(join(folder, 'sbom.cdx.json'), bom);
  writeFileSync(join(folder, 'bundles.json'), `${JSON.stringify(bundles, null, 2)}\n`);
  const sums = readdirSync(folder)
    .filter((file) => /\.(tgz|json)$/.test(file))
    .sort()
    .map(
      (file) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, file)))
          .digest('hex')}  ${file}`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), `${sums.join('\n')}\n`);
  console.log(sums.join('\n'));
  if (dryRun) console.error(`Nothing is published. The files are in ${folder}.`);
  else {
    for (const packed of globSync('bag-adres*.tgz', { cwd: folder }).sort()) {
      npm(['publish', join(folder, packed), '--provenance', '--access', 'public'], root);
    }
  }
}

await new Command('npm run release --')
  .description(
    'Packs bag-adres, bag-adres-admin and bag-adres-form, with a bill of materials and checksums, and publishes them.',
  )
  .option('--dry-run', 'do everything but publish')
  .option('--out <dir>', 'where to put the files', 'dist')
  .option('--as <version>', 'with --dry-run: pack bag-adres with this version, to try an upgrade')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(async (options: Options) => {
    if (options.as && !options.dryRun) {
      console.error('--as is for --dry-run only: a release has the version of package.json.');
      process.exit(2);
    }
    await release(options);
  })
  .parseAsync();
