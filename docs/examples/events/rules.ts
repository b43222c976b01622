import { Duration, SecretValue, Stack, type StackProps } from 'aws-cdk-lib';
import {
  ApiDestination,
  Authorization,
  Connection,
  EventField,
  Rule,
  RuleTargetInput,
} from 'aws-cdk-lib/aws-events';
import {
  ApiDestination as ApiDestinationTarget,
  SfnStateMachine,
  SnsTopic,
} from 'aws-cdk-lib/aws-events-targets';
import { Topic } from 'aws-cdk-lib/aws-sns';
import { EmailSubscription } from 'aws-cdk-lib/aws-sns-subscriptions';
import { DefinitionBody, StateMachine, StateMachineType } from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';

export type EventRulesProps = StackProps & {
  /** Gets a mail when another snapshot is live. */
  email: string;
  /** An incoming webhook of a chat, which takes `{"text": "..."}`. */
  chatUrl: string;
  /** Gets every event, as it is. */
  webhookUrl: string;
  /** The sender of mail to customers, an identity that SES has verified in this region. */
  sender: string;
  /** A secret in Secrets Manager, which both webhooks get as the header `x-api-key`. */
  chatSecretName: string;
};

/** Passes the events of the address service on: by mail, to a chat, and to a webhook. */
export class EventRules extends Stack {
  constructor(scope: Construct, id: string, props: EventRulesProps) {
    super(scope, id, props);
    const source = ['bag-adres'];
    const summary = EventField.fromPath('$.detail.summary');

    const news = new Topic(this, 'News', { enforceSSL: true });
    news.addSubscription(new EmailSubscription(props.email));
    new Rule(this, 'Mail', {
      eventPattern: { source, detailType: ['load.published'] },
      targets: [new SnsTopic(news, { message: RuleTargetInput.fromText(summary) })],
    });

    // A state machine rather than a function: it has no code to maintain.
    const identity = this.formatArn({ service: 'ses', resource: 'identity', resourceName: '*' });
    const send = CallAwsService.jsonata(this, 'Send', {
      service: 'sesv2',
      action: 'sendEmail',
      iamAction: 'ses:SendEmail',
      iamResources: [identity],
      parameters: {
        FromEmailAddress: props.sender,
        Destination: { ToAddresses: '{% $states.input.detail.contacts %}' },
        Content: {
          Simple: {
            Subject: { Data: "{% 'Address service: limit of ' & $states.input.detail.account %}" },
            Body: { Text: { Data: '{% $states.input.detail.summary %}' } },
          },
        },
      },
    });
    const toCustomer = new StateMachine(this, 'MailToCustomer', {
      stateMachineType: StateMachineType.EXPRESS,
      definitionBody: DefinitionBody.fromChainable(send),
    });
    new Rule(this, 'ToCustomer', {
      // An account without an administrator has nobody to write to.
      eventPattern: {
        source,
        detailType: ['quota.threshold'],
        detail: { contacts: [{ exists: true }] },
      },
      targets: [new SfnStateMachine(toCustomer)],
    });

    const connection = new Connection(this, 'Connection', {
      authorization: Authorization.apiKey(
        'x-api-key',
        SecretValue.secretsManager(props.chatSecretName),
      ),
    });
    const chat = new ApiDestination(this, 'Chat', {
      connection,
      endpoint: props.chatUrl,
      rateLimitPerSecond: 1,
    });
    new Rule(this, 'ToChat', {
      eventPattern: { source, detailType: ['quota.threshold', 'load.refused', 'key.created'] },
      targets: [
        new ApiDestinationTarget(chat, {
          event: RuleTargetInput.fromObject({ text: summary }),
          maxEventAge: Duration.hours(1),
        }),
      ],
    });

    const webhook = new ApiDestination(this, 'Webhook', { connection, endpoint: props.webhookUrl });
    new Rule(this, 'ToWebhook', {
      eventPattern: { source },
      targets: [new ApiDestinationTarget(webhook)],
    });
  }
}
