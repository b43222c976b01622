import { Annotations, Stack } from 'aws-cdk-lib';
import { ServicePrincipal } from 'aws-cdk-lib/aws-iam';
import type { IKey } from 'aws-cdk-lib/aws-kms';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import type { Construct } from 'constructs';
import { acknowledge } from '../acknowledge.ts';
import type { Config } from '../config/schema.ts';

/** Where every alarm and the loader report to: TLS only, and by e-mail where the configuration has an address. */
export function alarmTopic(scope: Construct, config: Config, key?: IKey): Topic {
  const topic = new Topic(scope, 'Alarms', {
    displayName: `Address service ${config.stage}`,
    enforceSSL: true,
    ...(key && { masterKey: key }),
  });
  // A topic with a policy of its own has no default one, which would have let CloudWatch in.
  topic.grantPublish(
    new ServicePrincipal('cloudwatch.amazonaws.com').withConditions({
      StringEquals: { 'aws:SourceAccount': Stack.of(scope).account },
    }),
  );
  if (config.alarmEmail) topic.addSubscription(new EmailSubscription(config.alarmEmail));
  else
    Annotations.of(topic).addWarningV2(
      'bag-adres:noAlarmEmail',
      'Nobody hears of an alarm: give bagAdres.alarmEmail in cdk.json, or subscribe to this topic yourself.',
    );
  acknowledge(
    topic,
    'Serverless-SNSRedrivePolicy',
    'Mail that can not be delivered is tried again by SNS; the alarm itself stays visible in CloudWatch.',
  );
  return topic;
}
