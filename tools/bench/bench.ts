import { existsSync, globSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { availableParallelism, cpus, totalmem } from 'node:os';
import { basename } from 'node:path';
import { fileURLToPath } from 'node:url';
import { Command, InvalidArgumentError } from 'commander';
import { type Benchmark, CannotMeasure, type Figures } from './benchmark.ts';
import { recordedIn, withFigures } from './performance-page.ts';
import { renderPlot } from './plot.ts';

const here = fileURLToPath(new URL('.', import.meta.url));
/** Not benchmarks, but what they are made of. */
const parts = new Set([
  'bench',
  'benchmark',
  'plot',
  'measure',
  'performance-page',
  'cost-model',
  'bare-lookup',
]);
const page = 'docs/performance.md';
const pageFigures = 'docs/performance';
const names = globSync('*.ts', { cwd: here })
  .map((file) => basename(file, '.ts'))
  .filter((name) => !parts.has(name))
  .sort();

const command = new Command('bench')
  .description('Measure one thing beside its reference, in one run; writes a small JSON and a plot')
  .argument('<name>', names.join(', '))
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .option('--json', 'print the figures as JSON, and write no files')
  .option('--extract <file>', 'read this extract instead of a generated one')
  .option(
    '--scale <share>',
    'share of the country to generate: 1 is all of it (default: 0.01; more for some)',
    share,
  )
  .option('--peer <dir>', 'for peers: a checkout of bag-address-lookup, which is built there')
  .option('--out <dir>', 'where the JSON and the SVG go', pageFigures)
  .action(run);

async function run(
  name: string,
  {
    scale,
    ...options
  }: { json?: boolean; extract?: string; scale?: number; peer?: string; out: string },
): Promise<void> {
  if (!names.includes(name)) {
    command.error(`There is no benchmark "${name}"; there are ${names.join(', ')}.`);
  }
  if (options.extract && !existsSync(options.extract)) {
    command.error(`There is no file ${options.extract}.`);
  }
  const { benchmark } = (await import(`./${name}.ts`)) as { benchmark: Benchmark };
  const figures: Figures = {
    benchmark: name,
    machine: machine(),
    ...(await benchmark.run({ ...options, scale: scale ?? benchmark.scale ?? 0.01 })),
  };
  const json = JSON.stringify(figures, null, 2);
  if (benchmark.table && !options.json) console.table(benchmark.table(figures));
  else {
    console.log(json);
  }
  if (!options.json) {
    mkdirSync(options.out, { recursive: true });
    writeFileSync(`${options.out}/${name}.json`, `${json}\n`);
    const plot = benchmark.plot?.(figures);
    if (plot) writeFileSync(`${options.out}/${name}.svg`, renderPlot(plot));
    if (options.out === pageFigures) {
      writeFileSync(page, withFigures(readFileSync(page, 'utf8'), recordedIn(pageFigures)));
    }
    console.log(
      `Written: ${options.out}/${name}.json${plot ? ` and ${options.out}/${name}.svg` : ''}`,
    );
  }
  const broken = benchmark.broken?.(figures) ?? [];
  if (broken.length === 0) return;
  console.error(broken.join('\n'));
  process.exitCode = 1;
}

function machine(): Figures {
  return {
    node: process.version,
    cpu: cpus()[0]?.model ?? 'unknown',
    cores: availableParallelism(),
    memory_gb: Math.round(totalmem() / 2 ** 30),
  };
}

function share(text: string): number {
  const value = Number(text);
  if (!(value > 0 && value <= 1)) {
    throw new InvalidArgumentError('A share is more than 0 and at most 1.');
  }
  return value;
}

try {
  await command.parseAsync();
} catch (error) {
  if (!(error instanceof CannotMeasure)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}
