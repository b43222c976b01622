import { PutObjectCommand } from '@aws-sdk/client-s3';
import { startS3, type TestS3 } from '../s3.ts';
import { lambdaInvoke, lambdaInvokeArn } from './lambda-invoke.ts';
import { type Execution, runStateMachine } from './run-state-machine.ts';
import { invoke, tinyMachine } from './tiny-machine.ts';

/** An S3 whose bucket `work` has items of every form. */
export async function startItems(): Promise<TestS3> {
  const s3 = await startS3('work');
  const objects = {
    'items.json': '[{"n":1},{"n":2},{"n":3},{"n":4},{"n":5}]',
    'items.jsonl': '{"n":1}\n{"n":2}\n',
    'none.json': '[]',
    'object.json': '{"n":1}',
    'broken.json': '[{"n":1},',
    'listed/a': 'aa',
    'listed/b': 'b',
  };
  for (const [Key, Body] of Object.entries(objects)) {
    await s3.client.send(new PutObjectCommand({ Bucket: 'work', Key, Body }));
  }
  return s3;
}

/** An ItemReader of an object in that bucket. */
export const read = (Key: string, InputType = 'JSON') => ({
  Resource: 'arn:aws:states:::s3:getObject',
  ReaderConfig: { InputType },
  Arguments: { Bucket: 'work', Key: `{% '${Key}' %}` },
});

/** A machine of one Distributed Map, whose children call `F` with their input. */
export function mapping(more: Record<string, unknown>) {
  return tinyMachine({
    Each: {
      Type: 'Map',
      Label: 'Each',
      ItemProcessor: {
        ProcessorConfig: { Mode: 'DISTRIBUTED', ExecutionType: 'STANDARD' },
        StartAt: 'Do',
        States: { Do: invoke('F', '{% $states.input %}', { Output: '{% $states.result.Payload %}' }) },
      },
      End: true,
      ...more,
    },
  });
}

/** Runs such a machine with this function as `F`. */
export function runMapping(
  { client }: TestS3,
  definition: unknown,
  F: (event: never) => unknown,
  input: unknown = {},
): Promise<Execution> {
  const integrations = { [lambdaInvokeArn]: lambdaInvoke({ F }) };
  return runStateMachine(definition, { integrations, s3: client, input, functionErrors: ['OddError'] });
}

/** What `double` throws. */
export class OddError extends Error {
  override readonly name = 'OddError';
}

/** A function that doubles `n`, and fails for those told. */
export function double(...failing: number[]) {
  return (event: { n: number }): number => {
    if (failing.includes(event.n)) throw new OddError(`no ${event.n}`);
    return event.n * 2;
  };
}
