import { type Check, demand, type Limits } from './check.ts';
import { demandJson, isText } from './demands.ts';

const windows = ['minute', 'hour', 'day', 'month'];

/** What the holder of a key is told of it. */
export const validationChecks: Check[] = [
  {
    section: 'validation',
    title: 'a key that works is told its label, its plan and its limits',
    async run(visit) {
      const answer = await visit.api.send('/v1/auth/validate', { headers: { origin: 'https://example.org' } });
      const { valid, key_label, plan_code, limits } = demandJson(answer, ['valid', 'key_label', 'plan_code', 'limits']);
      demand(valid === true, `${answer.asked}: valid is ${valid}`);
      demand(isText(key_label) && isText(plan_code), `${answer.asked}: key_label or plan_code is no text`);
      demand(areLimits(limits), `${answer.asked}: limits are ${JSON.stringify(limits)}`);
      visit.limits = limits;
    },
  },
];

function areLimits(limits: unknown): limits is Limits {
  if (typeof limits !== 'object' || limits === null) return false;
  return Object.entries(limits).every(
    ([name, limit]) => windows.includes(name) && (limit === null || (Number.isInteger(limit) && limit >= 0)),
  );
}
