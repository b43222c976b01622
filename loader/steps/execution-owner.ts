import { DescribeExecutionCommand, type SFNClient } from '@aws-sdk/client-sfn';

/** The load that has the lock has ended, but Lambdas that it began may still write. This passes by itself. */
class LockSettlingError extends Error {
  override readonly name = 'LockSettlingError';

  constructor(execution: string, ended: number, settled: number) {
    const [at, until] = [ended, settled].map((time) => new Date(time).toISOString());
    super(
      `The load ${execution.split(':').at(-1)} ended at ${at}; until ${until} what it began may still write, so this ` +
        'one waits.',
    );
  }
}

/**
 * Whether an owner of the lock is an execution of the state machine that can't write any more: it ended at least
 * `settleSeconds` ago, and no Lambda of it runs for that long (decision 0116).
 * @throws LockSettlingError where it ended later
 */
export function executionIsGone(client: SFNClient, settleSeconds: number, clock = Date.now) {
  return async (owner: string): Promise<boolean> => {
    const ended = await endOf(client, owner);
    if (ended === null) return false;
    const settled = ended + settleSeconds * 1000;
    if (clock() < settled) throw new LockSettlingError(owner, ended, settled);
    return true;
  };
}

/** When the execution ended; `null` while it runs, or for an owner that is no execution: its lock expires by itself. */
async function endOf(client: SFNClient, owner: string): Promise<number | null> {
  if (!/^arn:[^:]+:states:/.test(owner)) return null;
  try {
    const command = new DescribeExecutionCommand({ executionArn: owner, includedData: 'METADATA_ONLY' });
    const { status, stopDate } = await client.send(command);
    // An execution that was redriven is running again, although it has a stop date.
    return status === 'RUNNING' || !stopDate ? null : stopDate.getTime();
  } catch (error) {
    // An execution of a state machine that was replaced.
    if (['ExecutionDoesNotExist', 'AccessDeniedException'].includes((error as Error).name)) return null;
    throw error;
  }
}
