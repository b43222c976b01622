import { beforeAll, describe, expect, it } from '@jest/globals';
import { parseConfig } from '../../../operator/config/parse-config.ts';
import { everything, ofType, type Template, templates } from '../synthesized.ts';

describe('the budget of a month', () => {
  let service: Template;
  let plain: Template;
  beforeAll(async () => {
    service = (await templates(everything)).service;
    plain = (await templates()).service;
  }, 60_000);

  it('writes at 80 % and at 100 % of the costs, and when the forecast exceeds them, to whom alarms go', () => {
    const [budget] = Object.values(ofType(service, 'AWS::Budgets::Budget'));
    const { Budget, NotificationsWithSubscribers } = (budget?.Properties ?? {}) as {
      Budget: object;
      NotificationsWithSubscribers: { Notification: object; Subscribers: object[] }[];
    };
    expect(Budget).toMatchObject({
      BudgetLimit: { Amount: 200, Unit: 'USD' },
      TimeUnit: 'MONTHLY',
      BudgetType: 'COST',
    });
    expect(NotificationsWithSubscribers.map(({ Notification }) => Notification)).toMatchObject([
      { NotificationType: 'ACTUAL', Threshold: 80 },
      { NotificationType: 'FORECASTED', Threshold: 100 },
      { NotificationType: 'ACTUAL', Threshold: 100 },
    ]);
    for (const { Subscribers } of NotificationsWithSubscribers)
      expect(Subscribers).toEqual([{ SubscriptionType: 'EMAIL', Address: 'beheer@example.nl' }]);
  });

  it('exists only if it is configured, and has somebody to write to', () => {
    expect(ofType(plain, 'AWS::Budgets::Budget')).toEqual({});
    expect(() => parseConfig({ budget: { usdPerMonth: 50 } })).toThrow(
      'Set bagAdres.budget.email or bagAdres.alarmEmail',
    );
    expect(parseConfig({ budget: { usdPerMonth: 50, email: 'geld@example.nl' } }).budget?.email).toBe(
      'geld@example.nl',
    );
    expect(() => parseConfig({ budget: { usdPerMonth: 0, email: 'geld@example.nl' } })).toThrow('budget.usdPerMonth');
  });
});
