import { describe, expect, it } from '@jest/globals';
import { runSteps, type Step } from '../../../tools/prove/run-steps.ts';

const names = ['bootstrap', 'deploy', 'lookups'];

/** Runs three steps, the last of which has nothing to undo, and returns what happened. */
async function run(
  change: Partial<Record<string, Partial<Step<string[]>>>> = {},
  breaks?: string,
  refused?: string,
) {
  const did: string[] = [];
  const said: string[] = [];
  const steps = names.map(
    (name): Step<string[]> => ({
      name,
      asks: 'does it',
      run: async (trial) => `${trial.push(name)} done`,
      ...(name !== 'lookups' && { undo: async (trial) => void trial.push(`undo ${name}`) }),
      ...change[name],
    }),
  );
  const worked = await runSteps(did, steps, {
    agrees: async (asks) => asks !== `${refused}: does it`,
    say: (line) => said.push(line.replace(/\(\d+ s\)/, '')),
    signal: new AbortController().signal,
    ...(breaks && { breaks }),
  });
  return { worked, did, said: said.join('\n') };
}

describe('the steps of a trial', () => {
  it('run in order, say what each showed, and are undone from the last to the first', async () => {
    const { worked, did, said } = await run();
    expect(did).toEqual([...names, 'undo deploy', 'undo bootstrap']);
    expect(said).toContain('ok deploy : 2 done');
    expect(worked).toBe(true);
  });

  it.each(names)('are undone up to %s where that fails after all it did', async (breaks) => {
    const { worked, did, said } = await run({}, breaks);
    const begun = names.slice(0, names.indexOf(breaks) + 1);
    const undone = begun.filter((name) => name !== 'lookups').map((name) => `undo ${name}`);
    expect(did).toEqual([...begun, ...undone.reverse()]);
    expect(said).toContain(`FAILED ${breaks} : broken`);
    expect(worked).toBe(true);
  });

  it('have not worked where one before the step that is to fail does', async () => {
    const { worked, did } = await run(
      { deploy: { run: () => Promise.reject(new Error('no quota')) } },
      'lookups',
    );
    expect([did, worked]).toEqual([['bootstrap', 'undo deploy', 'undo bootstrap'], false]);
  });

  it('are undone up to the one before the first no', async () => {
    const { worked, did } = await run({}, undefined, 'deploy');
    expect([did, worked]).toEqual([['bootstrap', 'undo bootstrap'], false]);
  });

  it('are all undone, also where one of them can not be, which is said', async () => {
    const undo = () => Promise.reject(new Error('no stack'));
    const { worked, did, said } = await run({ deploy: { undo } });
    expect([did.at(-1), worked]).toEqual(['undo bootstrap', false]);
    expect(said).toContain('FAILED undo deploy : no stack');
  });

  it('end after the one that an interruption reaches', async () => {
    const ending = new AbortController();
    const did: string[] = [];
    const steps = names.map((name) => ({
      name,
      asks: '',
      run: async () => {
        did.push(name);
        if (name === 'deploy') ending.abort();
        return '';
      },
      undo: async () => void did.push(`undo ${name}`),
    }));
    const options = { agrees: async () => true, say: () => undefined, signal: ending.signal };
    expect(await runSteps(null, steps, options)).toBe(false);
    expect(did).toEqual(['bootstrap', 'deploy', 'undo deploy', 'undo bootstrap']);
  });
});
