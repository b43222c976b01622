/**
 * `npm run prove -- --profile NAME`: shows in an AWS account what no emulator can, by a trial
 * deployment that is destroyed at the end, however it ends. `--on moto` or `--on ministack` shows
 * that the trial itself works.
 */
import { existsSync } from 'node:fs';
import { createInterface } from 'node:readline/promises';
import { Command, Option } from 'commander';
import { sample } from '../../test/support/weesp-truth.ts';
import { runSteps } from './run-steps.ts';
import { remains, steps } from './steps.ts';
import { inAws, onEmulator, type Place, Trial } from './trial.ts';

type Options = {
  profile?: string;
  region: string;
  on?: 'moto' | 'ministack';
  extract: string;
  yes?: true;
  break?: string;
};

const names = steps.map(({ name }) => name);

const command = new Command('npm run prove --')
  .description(
    'Deploys a trial to your AWS account, shows what works there, and destroys it: two hours, a few dollars',
  )
  .option('--profile <name>', 'the profile of the AWS CLI')
  .option('--region <region>', 'the region', 'eu-central-1')
  .addOption(
    new Option('--on <emulator>', 'an emulator on this machine instead').choices([
      'moto',
      'ministack',
    ]),
  )
  .option('--extract <file>', 'the extract of Weesp, BAGGEM0457L-15102021.zip', sample)
  .option('--yes', 'do every step without asking')
  .addOption(
    new Option(
      '--break <step>',
      'let a step fail after all it did; "each" begins again for each',
    ).choices([...names, 'each']),
  )
  .exitOverride((error) => process.exit(error.exitCode === 0 ? 0 : 2))
  .action(prove);
await command.parseAsync();

async function prove({ profile, region, on, extract, yes, break: broken }: Options): Promise<void> {
  if (!existsSync(extract)) command.error(`There is no file ${extract}.`);
  if (!on && !profile) command.error('Name the profile of the account with --profile.');
  const ending = new AbortController();
  const interrupt = () => {
    console.log('Ends with this step, then destroys everything: wait for it.');
    ending.abort();
  };
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, interrupt);
  const place: Place = on ? await onEmulator(on) : inAws(profile ?? '', region);
  const asked = createInterface(process.stdin, process.stdout);
  const agrees = async (asks: string) => {
    if (yes) return true;
    const answer = await asked
      .question(`${asks} [y/N] `, { signal: ending.signal })
      .catch(() => '');
    return /^y(es)?$/i.test(answer.trim());
  };
  asked.on('SIGINT', interrupt);
  try {
    for (const breaks of broken === 'each' ? names : [broken]) {
      const trial = await Trial.begin(place, extract, ending.signal);
      console.log(
        `Account ${trial.account}, ${place.region}${breaks ? `; ${breaks} is to fail` : ''}`,
      );
      const worked = await runSteps(trial, steps, {
        agrees,
        say: (line) => console.log(line),
        signal: ending.signal,
        ...(breaks && { breaks }),
      });
      const left = await remains(trial);
      console.log(left.length > 0 ? `REMAINS, delete it: ${left.join(', ')}` : 'Nothing remains.');
      if (left.length > 0 || !worked) process.exitCode = 1;
      if (ending.signal.aborted) break;
    }
  } finally {
    asked.close();
    await place.stop();
  }
}
