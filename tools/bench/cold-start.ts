import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';
import { gzipSync } from 'node:zlib';
import { buildSync } from 'esbuild';
import { writeBundle } from '../../lib/shared/bundle.ts';
import { type BundleSource, bundles } from '../../lib/shared/bundles.ts';
import {
  lambdaEnvironment,
  newAccount,
  startAddressService,
} from '../../test/support/address-service.ts';
import { chargeKey } from '../../test/support/charge-at.ts';
import { gatewayEvent } from '../../test/support/gateway-event.ts';
import type { Benchmark } from './benchmark.ts';
import { inTurn, median, pairedRatio, rounded } from './measure.ts';

const rounds = 21;
const bareHandler = 'tools/bench/cold-start-parts/bare-handler.ts';
const execute = promisify(execFile);
const path = (relative: string) => fileURLToPath(new URL(relative, import.meta.url));

/**
 * Bundle bytes, and CPU time of import and first answer, of each Lambda against a handler with only
 * the bare client: once bundled as esbuild does it, and once with the care that our bundles take
 * (`bare_bundled_alike`).
 */
export const benchmark: Benchmark = {
  async run() {
    const service = await startAddressService({ asDeployed: true });
    const folder = mkdtempSync(join(tmpdir(), 'cold-start-'));
    try {
      const { key } = await newAccount(service, { minute: 1e9, day: 1e9 });
      // The first lookup of a day takes two writes.
      await chargeKey(service.client, key, Date.now() / 1000, 1);
      const headers = { 'x-api-key': key };
      const contenders = {
        address: gatewayEvent('/v1/address?postcode=1381AA&huisnummer=9&toevoeging=a', { headers }),
        validate: gatewayEvent('/v1/auth/validate', { headers }),
        bare: {},
        alike: {},
      };
      const bundled = {
        address: bundleOf(bundles.Address.entries.index, folder, 'address', writeBundle),
        validate: bundleOf(bundles.Validate.entries.index, folder, 'validate', writeBundle),
        bare: bundleOf(bareHandler, folder, 'bare', writePlainBundle),
        alike: bundleOf(bareHandler, folder, 'alike', writeBundle),
      };
      const parts: Record<string, { importMilliseconds: number[]; answerMilliseconds: number[] }> =
        {};
      const start = (name: keyof typeof bundled) => async () => {
        const { importMilliseconds, answerMilliseconds } = await firstAnswer(
          bundled[name].file,
          contenders[name],
          service.endpoint,
        );
        parts[name] ??= { importMilliseconds: [], answerMilliseconds: [] };
        parts[name].importMilliseconds.push(importMilliseconds);
        parts[name].answerMilliseconds.push(answerMilliseconds);
        return importMilliseconds + answerMilliseconds;
      };
      const cpu = await inTurn(rounds, {
        bare: start('bare'),
        address: start('address'),
        validate: start('validate'),
        alike: start('alike'),
      });
      const figures = (name: keyof typeof bundled) => ({
        bundle_bytes: bundled[name].bytes,
        bundle_gzip_bytes: bundled[name].gzipBytes,
        import_cpu_ms: rounded(median(parts[name]?.importMilliseconds ?? [])),
        first_answer_cpu_ms: rounded(median(parts[name]?.answerMilliseconds ?? [])),
        total_cpu_ms: rounded(median(cpu[name])),
        cpu_ratio_to_bare: rounded(pairedRatio(cpu[name], cpu.bare)),
        cpu_ratio_to_bare_bundled_alike: rounded(pairedRatio(cpu[name], cpu.alike)),
      });
      return {
        rounds,
        address: figures('address'),
        validate: figures('validate'),
        bare: figures('bare'),
        bare_bundled_alike: figures('alike'),
      };
    } finally {
      rmSync(folder, { recursive: true });
      await service.stop();
    }
  },
};

/**
 * The bundle as it is deployed. Of the modules only what the handler imports at once counts: the
 * rest loads when asked for.
 */
function bundleOf(entry: string, folder: string, name: string, write: typeof writeBundle) {
  const output = join(folder, name);
  mkdirSync(output);
  write(name, { entries: { index: entry } }, output);
  const modules = initialModules(output, 'index.mjs').map((module) =>
    readFileSync(join(output, module)),
  );
  return {
    file: join(output, 'index.mjs'),
    bytes: modules.reduce((sum, module) => sum + module.length, 0),
    gzipBytes: modules.reduce((sum, module) => sum + gzipSync(module).length, 0),
  };
}

/** As esbuild bundles for Node when it is asked for small modules, and nothing more. */
function writePlainBundle(_name: string, { entries }: BundleSource, outdir: string): void {
  buildSync({
    entryPoints: { ...entries },
    absWorkingDir: path('../..'),
    outdir,
    outExtension: { '.js': '.mjs' },
    bundle: true,
    splitting: true,
    minify: true,
    platform: 'node',
    target: 'node24',
    format: 'esm',
    mainFields: ['module', 'main'],
  });
}

/** The module and what it imports statically. */
function initialModules(folder: string, module: string, found = new Set<string>()): string[] {
  if (found.has(module)) return [...found];
  found.add(module);
  const source = readFileSync(join(folder, module), 'utf8');
  for (const [, imported = ''] of source.matchAll(/(?:from|^import|;import)"\.\/([^"]+)"/g)) {
    initialModules(folder, imported, found);
  }
  return [...found];
}

async function firstAnswer(bundle: string, event: object, endpoint: string) {
  // Nothing else of this machine's: `NODE_EXTRA_CA_CERTS`, for one, costs more than the start
  // itself.
  const env = lambdaEnvironment(endpoint);
  const script = path('./cold-start-parts/first-answer.ts');
  const { stdout } = await execute(process.execPath, [script, bundle, JSON.stringify(event)], {
    env,
  });
  const result = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  if (result.status !== 200) throw new Error(`${bundle} answered ${result.status}`);
  return result as { importMilliseconds: number; answerMilliseconds: number };
}
