import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Command } from 'commander';
import type { Benchmark } from '../benchmark.ts';
import { type HistoryEntry, lowerRatios, type Ratios, ratioLosses, ratiosOf } from './history.ts';

const file = fileURLToPath(new URL('../../../docs/performance/history.json', import.meta.url));
/** Those that take a minute and need no extract. */
const usual = ['request', 'cold-start'];
const known = [...usual, 'batch', 'local', 'read'];
const mostRuns = 3;

const command = new Command('npm run check:ratios --')
  .description(
    'Measures ratios of the benchmarks, and fails if one is more than 10% worse than docs/performance/history.json',
  )
  .argument('[benchmarks...]', `${known.join(', ')} (default: ${usual.join(' and ')})`)
  .option('--record', 'add the measured ratios to the history, and accept losses')
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(check);
await command.parseAsync();

async function check(names: string[], { record }: { record?: boolean }): Promise<void> {
  const unknown = names.find((name) => !known.includes(name));
  if (unknown) command.error(`There is no benchmark "${unknown}" with ratios; there are ${known.join(', ')}.`);
  const history: HistoryEntry[] = JSON.parse(readFileSync(file, 'utf8'));
  const measured: Ratios = {};
  for (const name of names.length > 0 ? names : usual) Object.assign(measured, await measure(name, history));
  const losses = ratioLosses(history, measured);
  for (const [name, value] of Object.entries(measured)) console.log(`${name} ${value}`);
  if (record) {
    const entry: HistoryEntry = { date: new Date().toISOString().slice(0, 10), ratios: measured };
    writeFileSync(file, `${JSON.stringify([...history, entry], null, 2)}\n`);
    return;
  }
  for (const { name, recorded, date, measured } of losses) {
    const share = Math.round((measured / recorded - 1) * 100);
    console.error(`${name} is ${share} % worse: ${measured}, and ${recorded} on ${date}.`);
  }
  if (losses.length === 0) return;
  console.error('Find what made it slower, or accept it with --record and say why in the commit.');
  process.exitCode = 1;
}

/** A benchmark's ratios; where one looks worse, the lowest of several runs. */
async function measure(name: string, history: HistoryEntry[]): Promise<Ratios> {
  const { benchmark } = (await import(`../${name}.ts`)) as { benchmark: Benchmark };
  let ratios: Ratios = {};
  for (let run = 0; run < mostRuns; run++) {
    ratios = lowerRatios(ratios, ratiosOf(name, await benchmark.run({ scale: benchmark.scale ?? 0.01 })));
    if (ratioLosses(history, ratios).length === 0) break;
  }
  return ratios;
}
