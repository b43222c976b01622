import { describe, expect, it } from '@jest/globals';
import { runStateMachine } from './run-state-machine.ts';
import { serviceCall } from './service-call.ts';
import { tinyMachine } from './tiny-machine.ts';

const task = (Resource: string, Arguments: unknown) =>
  tinyMachine({ A: { Type: 'Task', Resource, Arguments, End: true } });

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
