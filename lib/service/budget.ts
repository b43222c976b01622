import { CfnBudget } from 'aws-cdk-lib/aws-budgets';
import { Construct } from 'constructs';
import type { Config } from '../config/schema.ts';

/**
 * Mail before a month costs more than the operator expects. It is of the whole account: costs can be told apart by tags
 * only after somebody has activated these, and until then a budget by tag would stay at zero without a word.
 */
export class Budget extends Construct {
  constructor(scope: Construct, id: string, { usdPerMonth, email }: NonNullable<Config['budget']> & { email: string }) {
    super(scope, id);
    const at = (notificationType: 'ACTUAL' | 'FORECASTED', threshold: number) => ({
      notification: { notificationType, threshold, comparisonOperator: 'GREATER_THAN', thresholdType: 'PERCENTAGE' },
      subscribers: [{ subscriptionType: 'EMAIL', address: email }],
    });
    new CfnBudget(this, 'Month', {
      budget: { budgetType: 'COST', timeUnit: 'MONTHLY', budgetLimit: { amount: usdPerMonth, unit: 'USD' } },
      notificationsWithSubscribers: [at('ACTUAL', 80), at('FORECASTED', 100), at('ACTUAL', 100)],
    });
  }
}
