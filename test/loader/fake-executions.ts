import { startFakeAws } from '../operator/fake-aws.ts';
import type { Execution } from '../support/state-machine/run-machine.ts';

/**
 * What Step Functions says of executions: those that it was told of have ended, any other one runs.
 */
export async function startFakeExecutions() {
  const ended = new Map<string, { status: string; stopSeconds: number }>();
  let passedSeconds = 0;
  const aws = await startFakeAws(
    {},
    {
      DescribeExecution({ executionArn }: { executionArn: string }) {
        const described = { executionArn, startDate: 1_790_000_000 };
        const end = ended.get(executionArn);
        if (!end) return { value: { ...described, status: 'RUNNING' } };
        return {
          value: { ...described, status: end.status, stopDate: end.stopSeconds - passedSeconds },
        };
      },
    },
  );
  return {
    endpoint: aws.endpoint,
    end({ arn, status }: Pick<Execution, 'arn' | 'status'>): void {
      ended.set(arn, { status, stopSeconds: Date.now() / 1000 + passedSeconds });
    },
    /** As if all that has ended had done so this much earlier. */
    pass(minutes: number): void {
      passedSeconds += minutes * 60;
    },
    stop: aws.stop,
  };
}
