import { afterAll, describe, expect, it } from '@jest/globals';
import { createTestPortal } from '../../support/portal.ts';
import { startPortalPages } from '../../support/portal-pages.ts';

let plans = 0;

const { service, portal, operator } = await startPortalPages();
afterAll(() => service.stop());

/** A plan that two accounts follow. */
async function newPlan(): Promise<string> {
  const code = `plan-${++plans}`;
  await service.admin.plans.put({ code, limits: { day: 100 } });
  for (const name of ['a', 'b']) {
    await service.admin.accounts.create({ id: `${code}-${name}`, plan: code });
  }
  return code;
}

const planOf = async (code: string) => (await service.admin.plans.list({ prefix: code })).plans[0];
const hidden = (html: string) =>
  Object.fromEntries(
    [...html.matchAll(/<input type="hidden" name="(?!token)([^"]+)" value="([^"]*)"/g)].map(
      ([, name, value]) => [name ?? '', (value ?? '').replaceAll('&quot;', '"')],
    ),
  );

describe('a plan', () => {
  it('is created once, and a second form with its code is refused', async () => {
    const form = { code: 'made', 'limit-day': '5', 'limit-month': 'unlimited' };
    expect((await operator.post('/operator/plans', form)).location).toBe(
      '/operator/plans/made?done=plan',
    );
    expect(await planOf('made')).toEqual({
      code: 'made',
      state: 'active',
      limits: { day: 5, month: null },
    });
    const again = await operator.post('/operator/plans', { ...form, 'limit-day': '6' });
    expect([again.status, again.body.includes('A plan with this code already exists')]).toEqual([
      422,
      true,
    ]);
    expect((await planOf('made'))?.limits).toEqual({ day: 5, month: null });
  });

  it.each([
    ['without a limit', { code: 'other' }, 'at least one limit'],
    [
      'with a limit that is not a number',
      { code: 'other', 'limit-day': '-1' },
      'at least one limit',
    ],
    ['with a code that no plan can have', { code: 'a b', 'limit-day': '1' }, 'A plan code has'],
    [
      'with a limit that is too high',
      { code: 'other', 'limit-day': '9999999999999' },
      'from 0 to a trillion',
    ],
  ])('%s is not created', async (_, form, sentence) => {
    const answer = await operator.post('/operator/plans', form as Record<string, string>);
    expect([answer.status, answer.body.includes(sentence)]).toEqual([422, true]);
    expect(await planOf('other')).toBeUndefined();
  });

  it('gets other limits after a confirmation with the number of its accounts, which then have them', async () => {
    const code = await newPlan();
    const page = await operator.get(`/operator/plans/${code}`);
    const asked = await operator.post(`/operator/plans/${code}`, {
      ...hidden(page.body),
      'limit-day': '250',
    });
    expect(asked.body).toContain('100 per day → 250 per day. It applies to 2 accounts at once.');
    expect((await planOf(code))?.limits).toEqual({ day: 100 });
    const done = await operator.post(`/operator/plans/${code}`, hidden(asked.body));
    expect(done.location).toBe(`/operator/plans/${code}?done=saved`);
    expect((await service.admin.accounts.show(`${code}-b`)).windows.day?.limit).toBe(250);
    const { body } = await operator.get(`/operator/plans/${code}`);
    expect(body).toContain('plan created or changed');
    expect(body).toContain('olaf@operator.nl');
  });

  it("refuses a form that would overwrite another person's change, of limits or state", async () => {
    const code = await newPlan();
    const page = await operator.get(`/operator/plans/${code}`);
    const state = await operator.get(`/operator/plans/${code}/state`);
    const asked = await operator.post(`/operator/plans/${code}`, {
      ...hidden(page.body),
      'limit-day': '250',
    });
    await service.admin.plans.put({ code, limits: { day: 7, hour: 3 } });
    const late = await operator.post(`/operator/plans/${code}`, hidden(asked.body));
    const lateState = await operator.post(`/operator/plans/${code}/state`, hidden(state.body));
    expect([late.status, lateState.status]).toEqual([409, 409]);
    expect(late.body).toMatch(/Now: 7<\/p>\s*<input id="limit-day" [^>]*value="250"/);
    expect(await planOf(code)).toMatchObject({ state: 'active', limits: { hour: 3, day: 7 } });
  });

  it('is deactivated after a confirmation, refuses its accounts, and can be activated again', async () => {
    const code = await newPlan();
    const { key } = await service.admin.keys.create({ account: `${code}-a`, label: 'x' });
    const path = `/operator/plans/${code}/state`;
    const question = await operator.get(path);
    expect(question.body).toContain('It applies to 2 accounts at once.');
    expect((await operator.post(path, hidden(question.body))).location).toContain(
      'done=planInactive',
    );
    expect((await service.instance.lookUp(key)).status).toBe(403);
    expect((await operator.post(path, hidden(question.body))).status).toBe(409);
    await operator.post(path, hidden((await operator.get(path)).body));
    expect((await service.instance.lookUp(key)).status).toBe(200);
  });

  it('whose change was interrupted says so on each page, and goes on from its own', async () => {
    const code = await newPlan();
    await service.admin.plans.begin({ code, limits: { day: 9 } });
    for (const path of ['/operator/plans', `/operator/plans/${code}`]) {
      expect((await operator.get(path)).body).toContain(`href="/operator/plans/${code}/change"`);
    }
    const { body } = await operator.get(`/operator/plans/${code}/change`);
    expect(body).toMatch(/0 of \d+ accounts of the service checked/);
    expect(body).toContain('data-go-on');
    expect((await service.admin.accounts.show(`${code}-a`)).windows.day?.limit).toBe(100);
    expect((await operator.post(`/operator/plans/${code}/change`)).location).toBe(
      `/operator/plans/${code}?done=saved`,
    );
    expect((await service.admin.accounts.show(`${code}-a`)).windows.day?.limit).toBe(9);
    expect((await operator.get(`/operator/plans/${code}/change`)).location).toBe(
      `/operator/plans/${code}?done=saved`,
    );
    expect((await operator.get('/operator/plans')).body).not.toContain('/change"');
  });

  it('leads to the page of a change that takes longer than one form may', async () => {
    const code = await newPlan();
    let followed = 0;
    const slow = createTestPortal(service, {
      adminAs: (actor) => {
        const admin = portal.adminAs(actor);
        // A part of the accounts at a time, as of many.
        const follow = async () => {
          followed++;
          return admin.plans.follow(code, { accounts: 1 });
        };
        return { ...admin, plans: { ...admin.plans, follow } };
      },
      // Each look at the clock is three seconds later.
      now: () => Date.now() + followed * 3_000,
    });
    const person = await slow.signedIn({
      subject: 'sub:o',
      email: 'olaf@operator.nl',
      operator: true,
    });
    const page = await person.get(`/operator/plans/${code}`);
    const asked = await person.post(`/operator/plans/${code}`, {
      ...hidden(page.body),
      'limit-day': '250',
    });
    const begun = await person.post(`/operator/plans/${code}`, hidden(asked.body));
    expect([begun.location, followed]).toEqual([`/operator/plans/${code}/change`, 3]);
    expect((await operator.get(`/operator/plans/${code}/change`)).body).toMatch(
      /3 of \d+ accounts/,
    );
  });

  it('returns 404 if it does not exist, and a form of another site changes nothing', async () => {
    expect((await operator.get('/operator/plans/nothing')).status).toBe(404);
    expect((await operator.get('/operator/plans/%23')).status).toBe(404);
    const code = await newPlan();
    const answer = await operator.post(`/operator/plans/${code}`, {
      seen: '{}',
      'limit-day': '1',
      confirmed: 'yes',
    });
    expect([answer.status, (await planOf(code))?.limits]).toEqual([422, { day: 100 }]);
  });
});
