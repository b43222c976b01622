import { ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { readStack } from '../connect/read-stack-outputs.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** How CloudFormation left a stack. */
export async function checkStack(name: string): Promise<Finding> {
  const check = `stack ${name}`;
  const { status } = await readStack(name);
  if (/^(?:CREATE|UPDATE|IMPORT)_COMPLETE$/.test(status)) return ok(check, status);
  if (/IN_PROGRESS$/.test(status))
    return warning(check, status, 'It is being changed; look again when that has ended.');
  if (/^(?:UPDATE|IMPORT)_ROLLBACK_COMPLETE$/.test(status)) {
    return warning(
      check,
      status,
      'The last deployment was undone: its events in CloudFormation say why. Deploy again.',
    );
  }
  return failed(check, status, 'Its events in CloudFormation say why; put that right, then: npx cdk deploy --all.');
}

/** How the last load of the state machine ended. */
export async function checkLoads(client: SFNClient, stateMachineArn: string, where: string): Promise<Finding> {
  const { executions = [] } = await client.send(new ListExecutionsCommand({ stateMachineArn, maxResults: 1 }));
  const [last] = executions;
  if (!last) return warning('last load', 'There was none yet.', `Begin one: "load run ${where}".`);
  const found = `${last.status} (${last.name}, begun ${last.startDate?.toISOString()})`;
  if (last.status === 'SUCCEEDED' || last.status === 'RUNNING') return ok('last load', found);
  const why = `"load status ${where}" says whether one is blocked, "load follow ${last.name} ${where}" why it ended.`;
  return warning('last load', found, `${why} docs/runbook.md#load-failed`);
}
