import { PublishCommand, type SNSClient } from '@aws-sdk/client-sns';
import { StateError } from './errors.ts';
import type { Integration } from './frame.ts';
import type { Json } from './json.ts';
import { serviceCall } from './service-call.ts';

/** The resource that `snsPublish` stands for. */
export const snsPublishArn = 'arn:aws:states:::sns:publish';

/** Publishes with a real client. A message that is no text is sent as JSON; a subject that SNS refuses is an error. */
export function snsPublish(client: SNSClient): Integration {
  const parameters = { TopicArn: 'required', Message: 'required', Subject: 'optional' } as const;
  return serviceCall(parameters, async (values) => {
    const { TopicArn, Message, Subject } = values as { TopicArn: string; Message: Json; Subject?: string };
    if (Subject !== undefined && !/^[\x21-\x7e][\x20-\x7e]{0,99}$/.test(Subject)) {
      throw new StateError('SNS.InvalidParameterException', `Invalid parameter: Subject (${Subject})`);
    }
    const text = typeof Message === 'string' ? Message : JSON.stringify(Message);
    try {
      const { MessageId } = await client.send(new PublishCommand({ TopicArn, Message: text, Subject }));
      return { MessageId };
    } catch (error) {
      const { name, message } = error as Error;
      throw new StateError(`SNS.${name}`, message);
    }
  });
}
