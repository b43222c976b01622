import { DescribeContinuousBackupsCommand, DescribeTableCommand, type DynamoDBClient } from '@aws-sdk/client-dynamodb';
import { ListExecutionsCommand, type SFNClient } from '@aws-sdk/client-sfn';
import { loadDefaults } from '../../loader/names.ts';
import { dynamoDbAddressTable } from '../../loader/storage/dynamodb-address-table.ts';
import { readStack } from '../connect/deployment.ts';
import { type Finding, failed, ok, warning } from './finding.ts';

/** Whether a table serves. */
export async function checkTable(client: DynamoDBClient, check: string, table: string): Promise<Finding> {
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const status = Table?.TableStatus ?? 'unknown';
  const found = `${table} is ${status}`;
  if (status === 'ACTIVE' || status === 'UPDATING') return ok(check, found);
  return failed(
    check,
    found,
    'Wait until it is ACTIVE; one that is gone comes back from a point in time: docs/deploy.md.',
  );
}

/** Whether a table can be brought back, and whether it can be deleted by mistake. */
export async function checkProtection(client: DynamoDBClient, check: string, table: string): Promise<Finding> {
  const backups = await client.send(new DescribeContinuousBackupsCommand({ TableName: table }));
  const { Table } = await client.send(new DescribeTableCommand({ TableName: table }));
  const recovery = backups.ContinuousBackupsDescription?.PointInTimeRecoveryDescription;
  if (recovery?.PointInTimeRecoveryStatus !== 'ENABLED') {
    const advice = 'Somebody switched it off: npx cdk deploy --all switches it on; or in DynamoDB, Backups.';
    return failed(check, 'point-in-time recovery is off', advice);
  }
  if (!Table?.DeletionProtectionEnabled) {
    const advice = 'Fine for a trial (removalPolicy "destroy"). Else deploy again with removalPolicy "retain".';
    return warning(check, 'point-in-time recovery is on, deletion protection is off', advice);
  }
  return ok(check, 'point-in-time recovery and deletion protection are on');
}

/** The age at which the alarm rings too: a new state comes every month. */
const oldDays = loadDefaults.oldAfterDays;

/** Which state of the register is served, and how old it is. @param where how the place is named in a command */
export async function checkDataset(
  client: DynamoDBClient,
  table: string,
  where: string,
  now = Date.now(),
): Promise<Finding> {
  const dataset = await dynamoDbAddressTable(client, table).dataset();
  if (!dataset) return failed('dataset', 'No register is served yet.', `Load one: "load run ${where}".`);
  const days = Math.floor((now - Date.parse(dataset.peildatum)) / 86_400_000);
  const found = `the state of ${dataset.peildatum}, ${days === 1 ? '1 day' : `${days} days`} old`;
  if (days < oldDays) return ok('dataset', found);
  return warning('dataset', found, `A new state comes every month; "load status ${where}" says what holds it up.`);
}

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
