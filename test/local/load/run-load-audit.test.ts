import { isDeepStrictEqual } from 'node:util';
import { describe, expect, it } from '@jest/globals';
import { runLoad } from '../../../local/load/run-load.ts';
import { startLoadBench } from '../../loader/steps/load-bench.ts';
import { newDataset, Register } from '../../loader/steps/mutation-register.ts';
import { dateAfter, type RegisterDay } from '../../support/register.ts';
import { startForTests } from '../../support/start-for-tests.ts';
import { sweep } from '../../support/sweep.ts';

const bench = startForTests(startLoadBench);

/** A register in which each occurrence is recorded on the day before the delivery that brings it, as in Kadaster's. */
function recordedRegister(seed: number, days: number): Register {
  const register = new Register(bench, seed, days);
  const recorded = new Map<string, string>();
  for (const { date, state } of [{ date: '2010-01-01', state: register.first }, ...register.days]) {
    for (const one of [...state.NUM, ...state.OPR, ...state.WPL]) {
      const key = `${one.identificatie} ${one.volgnummer ?? 1}`;
      if (!recorded.has(key)) recorded.set(key, `${dateAfter(date, -1)}T10:00:00.000`);
      Object.assign(one, { geregistreerdLV: recorded.get(key) });
    }
  }
  return register;
}

const lastApplied = 2;

/** Applies the first days, of which `deliver` may make others, and then a newer extract, which no delivery leads to. */
async function stuckThenCorrected(register: Register, deliver: (days: RegisterDay[]) => Promise<unknown>) {
  const { options, content } = await newDataset(bench);
  await deliver(register.days.slice(0, lastApplied + 1));
  await runLoad({ ...options, source: await register.extract(), mutations: [register.mutations] });
  const stuck = await content();
  const newest = (register.days.at(-1) as RegisterDay).date;
  const report = await runLoad({ ...options, source: await register.extract(newest) });
  return { stuck, report, content: await content() };
}

async function tableOf(register: Register, date: string) {
  const { options, content } = await newDataset(bench);
  await runLoad({ ...options, source: await register.extract(date) });
  return content();
}

describe('an extract that is newer than a dataset of days', () => {
  it.each(sweep([17, 18, 21, 22, 25, 30], 1))(
    'finds no difference in what has not changed since, if the days were right (seed %i)',
    async (seed) => {
      const register = recordedRegister(seed, 6);
      const { report, content } = await stuckThenCorrected(register, (days) => register.deliver(days));
      expect(report).toMatchObject({ outcome: 'published', audit: { added: 0, changed: 0, removed: 0 } });
      expect(content).toEqual(await tableOf(register, report.peildatum as string));
    },
  );

  it('counts what the days had got wrong, unless it has changed since', async () => {
    const register = recordedRegister(13, 6);
    const { stuck, report, content } = await stuckThenCorrected(register, async (days) => {
      for (const { date, groups } of days) {
        const withoutNum = groups.filter(({ kind }) => kind !== 'NUM');
        await register.write(dateAfter(date, -1), date, withoutNum);
      }
    });
    const wrong = new Map(stuck);
    const right = new Map(await tableOf(register, register.days[lastApplied]?.date as string));
    expect([...right.keys()].filter((key) => !wrong.has(key))).toHaveLength(2);
    expect([...wrong.keys()].filter((key) => !right.has(key))).toHaveLength(2);
    const differ = (key: string) => wrong.has(key) && !isDeepStrictEqual(wrong.get(key), right.get(key));
    expect([...right.keys()].filter(differ)).toHaveLength(4);
    // Two of these four have another street or number by then.
    expect(report).toMatchObject({ outcome: 'published', audit: { added: 2, changed: 2, removed: 2 } });
    expect(content).toEqual(await tableOf(register, report.peildatum as string));
  });

  it('of another area is not compared', async () => {
    const register = recordedRegister(17, 6);
    const { options } = await newDataset(bench);
    await register.deliver(register.days.slice(0, 2));
    await runLoad({ ...options, source: await register.extract(), mutations: [register.mutations] });
    const newest = (register.days.at(-1) as RegisterDay).date;
    const report = await runLoad({ ...options, source: await register.extract(newest, { layout: 'municipality' }) });
    expect(report).toMatchObject({ outcome: 'published', audit: null });
  });
});
