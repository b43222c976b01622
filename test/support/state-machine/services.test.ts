import { CreateTopicCommand, type PublishCommandInput, SNSClient } from '@aws-sdk/client-sns';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { startS3, type TestS3 } from '../s3.ts';
import { runStateMachine } from './run-state-machine.ts';
import { serviceCall } from './service-call.ts';
import { snsPublish, snsPublishArn } from './sns-publish.ts';
import { tinyMachine } from './tiny-machine.ts';

let server: TestS3;
let sns: SNSClient;
let topic: string;
const published: PublishCommandInput[] = [];

beforeAll(async () => {
  server = await startS3();
  const credentials = { accessKeyId: 'local', secretAccessKey: 'local' };
  sns = new SNSClient({ endpoint: server.endpoint, region: 'eu-west-1', credentials });
  topic = (await sns.send(new CreateTopicCommand({ Name: 'told' }))).TopicArn ?? '';
  sns.middlewareStack.add((next) => async (args) => {
    const result = await next(args);
    published.push(args.input as PublishCommandInput);
    return result;
  });
});
beforeEach(() => {
  published.length = 0;
});
afterAll(async () => {
  sns.destroy();
  await server.stop();
});

const task = (Resource: string, Arguments: unknown) =>
  tinyMachine({ A: { Type: 'Task', Resource, Arguments, End: true } });

function publish(parameters: Record<string, unknown>) {
  const integrations = { [snsPublishArn]: snsPublish(sns) };
  return runStateMachine(task(snsPublishArn, { TopicArn: topic, ...parameters }), { integrations, input: { n: 1 } });
}

describe('a message to a topic', () => {
  it('is published, and its id is the result', async () => {
    const execution = await publish({ Subject: "{% 'one ' & $states.input.n %}", Message: 'text' });
    expect(execution).toMatchObject({
      status: 'SUCCEEDED',
      output: { MessageId: expect.stringMatching(/^[0-9a-f-]{36}$/) },
    });
    expect(published).toEqual([{ TopicArn: topic, Subject: 'one 1', Message: 'text' }]);
  });

  it('is sent as JSON unless it is text', async () => {
    await publish({ Message: { of: '{% $states.input %}' } });
    expect(published[0]?.Message).toBe('{"of":{"n":1}}');
  });

  it.each([
    ['has two lines', 'one\ntwo'],
    ['is too long', 'x'.repeat(101)],
    ['begins with a space', ' one'],
    ['has other letters than ASCII', 'één'],
    ['is empty', ''],
  ])('fails if its subject %s', async (_, Subject) => {
    expect(await publish({ Subject, Message: 'text' })).toMatchObject({ error: 'SNS.InvalidParameterException' });
    expect(published).toEqual([]);
  });

  it('fails with the name of the SNS error', async () => {
    const execution = await publish({ TopicArn: `${topic}-gone`, Message: 'text' });
    expect(execution).toMatchObject({ status: 'FAILED', error: expect.stringMatching(/^SNS\.NotFound/) });
  });
});

describe('a call of another service', () => {
  const Resource = 'arn:aws:states:::aws-sdk:dynamodb:getItem';
  const call = serviceCall(
    { TableName: 'required', Key: 'required', ConsistentRead: 'optional' },
    async (parameters) => ({
      asked: parameters,
      left: undefined,
    }),
  );

  it('gets its arguments, and returns JSON', async () => {
    const definition = task(Resource, { TableName: 't', Key: { a: '{% $states.input.n %}' } });
    const execution = await runStateMachine(definition, { integrations: { [Resource]: call }, input: { n: 1 } });
    expect(execution).toMatchObject({ output: { asked: { TableName: 't', Key: { a: 1 } } } });
  });

  it.each([
    [{ TableName: 't' }, /needs Key/],
    [{ TableName: 't', Key: {}, Consistent: true }, /Consistent is no known argument/],
    ['{% $states.input %}', /are an object/],
  ])('with the arguments %j is refused', async (parameters, issue) => {
    const run = runStateMachine(task(Resource, parameters), { integrations: { [Resource]: call } });
    await expect(run).rejects.toThrow(issue);
  });
});
