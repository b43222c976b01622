import { ListSubscriptionsByTopicCommand, SNSClient } from '@aws-sdk/client-sns';
import { patience } from '../connect/patience.ts';
import { type Finding, ok, warning } from './finding.ts';

/** Whether anybody hears of an alarm, and of a load that was refused. */
export async function checkAlarms(topicArn: string): Promise<Finding> {
  const client = new SNSClient(patience);
  try {
    const { Subscriptions = [] } = await client.send(new ListSubscriptionsByTopicCommand({ TopicArn: topicArn }));
    const confirmed = Subscriptions.filter(({ SubscriptionArn }) => SubscriptionArn?.startsWith('arn:'));
    if (confirmed.length > 0) return ok('alarms', `${confirmed.length} confirmed subscription(s) to ${topicArn}`);
    if (Subscriptions.some(({ SubscriptionArn }) => SubscriptionArn === 'PendingConfirmation')) {
      const advice =
        'Follow the link in the mail that AWS sent; the SNS console sends it again (Request confirmation).';
      return warning('alarms', 'Nobody hears of an alarm: the subscription is not confirmed.', advice);
    }
    const advice = `Set alarmEmail in cdk.json and deploy again, or subscribe to ${topicArn} yourself.`;
    return warning('alarms', 'Nobody hears of an alarm: no one is subscribed.', advice);
  } finally {
    client.destroy();
  }
}
