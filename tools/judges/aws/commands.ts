import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  february,
  january,
  march,
  voorkomensOf,
  withObjecten,
} from '../../../test/loader/steps/months.ts';
import { gatewayEvent } from '../../../test/support/gateway-event.ts';
import { writeExtract } from '../../../test/support/write-extract.ts';
import type { Judge } from '../judge.ts';
import {
  type Answer,
  type Aws,
  bagAdres,
  bootstrap,
  cdk,
  objections,
  operatorFolder,
  outputsOf,
  startAws,
  withRole,
} from './aws.ts';

const guard = { minimumAddresses: 10, maximumShare: 1 };
const settings = { guard, dataset: { objecten: true }, removalPolicy: 'destroy', schedule: 'off' };
const onStage = ['--stage', 'test'];
const now = new Date();
const month = now.toISOString().slice(0, 7);
/** The last month whose days can't change any more. */
const ended = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - 2))
  .toISOString()
  .slice(0, 7);

/** The operator's commands on a deployment, whose effects boto3 reads. */
export const commands: Judge = {
  description: "moto: the operator's commands on a deployment, their effects read by boto3",
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const aws = await startAws();
    const folder = mkdtempSync(join(tmpdir(), 'judge-commands-'));
    try {
      await bootstrap(aws);
      await cdk(aws, 'deploy', 'test', settings);
      await aws.checkAccess();
      // As the judge itself deploys.
      const directly = { CDK_METHOD: 'direct', CDK_CHANGE_SET: 'false', CDK_VALIDATION: 'false' };
      const environment = { ...aws.environment, ...directly, CDK_REQUIRE_APPROVAL: 'never' };
      return await everyCommand({ ...aws, environment }, folder);
    } finally {
      await aws.stop();
      rmSync(folder, { recursive: true, force: true });
    }
  },
};

async function everyCommand(aws: Aws, folder: string) {
  const { ask } = aws;
  const outputs = await outputsOf(aws, 'bag-adres-test');
  let caller = aws;
  const findings: string[] = [];
  let count = 0;
  /** What an operation answers now, without the request itself. */
  const seen =
    (service: string, operation: string, parameters?: Record<string, unknown>) => async () =>
      JSON.stringify({
        ...(await ask(service, operation, parameters)),
        ResponseMetadata: undefined,
      });
  const objects = (Bucket?: string) => seen('s3', 'list_objects_v2', { Bucket });
  const { AccountsTableName: TableName } = outputs;
  const accounts = seen('dynamodb', 'scan', { TableName });
  const addresses = seen('dynamodb', 'scan', { TableName: outputs.AddressesTableName });
  const snapshots = objects(outputs.SnapshotBucketName);

  const keyOf = (account: string, item: string) => ({ account: { S: account }, item: { S: item } });
  /** Writes attributes of an item of the accounts table. */
  const write = (account: string, item: string, attributes: Record<string, unknown>) => {
    const changes = Object.entries(attributes).map(([name, Value]) => [
      name,
      { Action: 'PUT', Value },
    ]);
    const Key = keyOf(account, item);
    return ask('dynamodb', 'update_item', {
      TableName,
      Key,
      AttributeUpdates: Object.fromEntries(changes),
    });
  };

  /**
   * What a command printed, without its name where it failed: a refused load is an exit code of 1.
   */
  const printed = (command: string, where: string[]) =>
    bagAdres(caller, ...command.split(' '), ...where).catch(({ message }: Error) =>
      message.slice(message.indexOf('\n')),
    );

  /** Runs a command after which boto3 reads what it did not before, or no longer what it did. */
  const does = async (
    command: string,
    read: () => Promise<string>,
    effect: RegExp,
    { gone = false, where = onStage } = {},
  ): Promise<string> => {
    count++;
    const before = await read();
    const output = await printed(command, where);
    const was = effect.test(before);
    const is = effect.test(await read());
    if (was === is || is === gone) {
      findings.push(
        `${command} did not ${gone ? 'remove' : 'write'} ${effect}: ${output.slice(-600)}`,
      );
    }
    return output;
  };
  /** Runs a command that only reads. */
  const says = async (command: string, expected: RegExp, where = onStage): Promise<string> => {
    count++;
    const output = await printed(command, where);
    if (!expected.test(output)) {
      findings.push(`${command} did not say ${expected}: ${output.slice(-600)}`);
    }
    return output;
  };

  const file = (name: string) => join(folder, name);
  const idOf = (output: string) => /bagadres_acme_(\w{8})/.exec(output)?.[1] ?? 'unknown';

  await says('doctor', /ok +accounts table/);
  await says('config check', /test/, []);
  await says('config show --stage test', /minimumAddresses/, []);
  caller = await withRole(aws, 'bag-adres-accounts', 'accounts-policy.json');
  await does('plan put standard --limit minute=60 --limit day=5000', accounts, /5000/);
  await says('plan list', /standard/);
  await says('plan audit standard', /plan/);
  await does('account create acme --plan standard', accounts, /acme/);
  // As of an interrupted change.
  const change = {
    looked: { N: '0' },
    followed: { N: '0' },
    started: { N: '1790000000' },
    actor: { S: 'jo' },
  };
  await write('plan#standard', 'plan', {
    version: { N: '2' },
    change: { M: change },
    after: { S: '-' },
    limits: { M: { minute: { N: '60' }, day: { N: '6000' } } },
  });
  const acme = {
    KeyConditionExpression: 'account = :acme',
    ExpressionAttributeValues: { ':acme': { S: 'acme' } },
  };
  await does('plan resume standard', seen('dynamodb', 'query', { TableName, ...acme }), /6000/);
  await does('account set acme --name Klant --contact jo@example.nl', accounts, /Klant/);
  await says('account show acme', /Klant/);
  await says('account list', /acme/);
  await says('account usage acme', /\d/);
  await says('account audit acme', /account/);
  const key = idOf(
    await does('key create --account acme --label webshop --json', accounts, /webshop/),
  );
  await says('key list --account acme', /webshop/);
  await says(`key find ${key}`, /acme/);
  await does(`key rename ${key} --account acme --label winkel`, accounts, /winkel/);
  await does(`key set ${key} --account acme --limit day=777`, accounts, /777/);
  const active = idOf(
    await does(`key rotate ${key} --account acme --label opvolger`, accounts, /opvolger/),
  );
  await does(`key revoke ${key} --account acme --yes`, accounts, /key revoke/);
  await does('member add jo@example.nl --account acme --role admin', accounts, /"admin"/);
  await does('member add an@example.nl --account acme --role admin', accounts, /an@example/);
  await says('member list --account acme', /jo@example/);
  await says('session list', /session/i);
  await says('session end --all', /\d/);
  await says('person export jo@example.nl', /acme/);
  await does('person erase jo@example.nl --yes', accounts, /jo@example/, { gone: true });
  await does('member add piet@example.nl --account acme', accounts, /piet@example/);
  await says('member remove piet@example.nl --account acme', /was removed/);
  await says('member list --account acme', /^(?![\s\S]*piet)/);
  await does('account suspend acme', accounts, /"suspended"/);
  caller = aws;
  await says('usage months', /\d{4}-\d\d/);
  await says(`usage export --month ${month}`, /acme/);
  // The month of the first account has not ended.
  await says(`usage close --month ${month} --yes`, /can be closed from/);
  await says(`usage statement acme --month ${month}`, /not closed|open/);
  await write('usage#', 'retention', { since: { S: ended } });
  await write('acme', 'plans', { [`${ended}-01`]: { S: 'standard' } });
  await does(
    `usage close --month ${ended} --yes`,
    objects(outputs.StatementsBucketName),
    new RegExp(ended),
  );
  await says(`usage statement acme --month ${ended}`, /standard/);
  await says(`audit export --month ${month}`, /account create/);
  await says(`export ${file('accounts.jsonl')}`, /1/);
  await says(`import ${file('accounts.jsonl')} --check`, /2 already there/);
  await does('account activate acme', accounts, /"suspended"/, { gone: true });
  const secret = seen('dynamodb', 'get_item', { TableName, Key: keyOf('checksum#', 'secret') });
  await says('rotate-checksum-secret --plan', /Creates another checksum secret/);
  await does('rotate-checksum-secret --yes', secret, /"previous"/);
  await says(
    'rotate-checksum-secret',
    new RegExp(`Replace each of the old one.s keys[^]*${active}`),
  );
  await says(`key revoke ${active} --account acme --yes`, /revoked/);
  await does('rotate-checksum-secret --yes', secret, /"previous"/, { gone: true });

  const extract = async (
    name: string,
    month: Parameters<typeof voorkomensOf>[0],
    most = Number.POSITIVE_INFINITY,
  ) => {
    const state = voorkomensOf(month);
    const kept = withObjecten({ ...state, NUM: state.NUM.slice(0, most) });
    writeFileSync(file(name), await writeExtract(month.peildatum, kept));
    return file(name);
  };
  const first = await extract('january.zip', january);
  // moto also assigns what the default of a Choice does where a rule goes to the same state, so it
  // ends as refused.
  await says(`load plan --extract ${first}`, /guard \.\.\./);
  await does(`load run --extract ${first}`, addresses, /1381AA#7/);
  await says('load status', /2026-01-08/);
  await does(
    `load run --extract ${await extract('february.zip', february)}`,
    addresses,
    /1382LJ#30/,
  );
  await says('load history', /2026-01-08/);
  await says('load explain 1382LJ 30', /Nijverheidslaan/);
  await says('load check', /\d/);
  await requests(
    aws,
    await says('key create --account acme --label api', /bagadres_acme_/),
    findings,
  );
  await does('load rollback 2026-01-08 --yes', addresses, /1382LJ#30/, { gone: true });
  await does(
    `load run --extract ${await extract('march.zip', march)}`,
    snapshots,
    /loads.*2026-03-08/,
  );
  await does('load approve --yes', addresses, /7311KZ#110/);
  const half = await extract('half.zip', { ...march, peildatum: '2026-04-08' }, 4);
  const refused = await does(`load run --extract ${half}`, snapshots, /loads.2026-04-08/);
  const load = /2026-04-08-[0-9a-f]{10}/.exec(refused)?.[0];
  await does(`load discard ${load} --yes`, snapshots, /loads.2026-04-08/, { gone: true });
  await says(`load run --extract ${half}`, /refused/);
  await does('load reject', snapshots, /loads.2026-04-08/, { gone: true });
  const lock = {
    address: { S: '#load' },
    owner: { S: `${outputs.StateMachineArn}:gone` },
    token: { S: '1' },
  };
  const Item = { ...lock, until: { N: '4000000000' } };
  await ask('dynamodb', 'put_item', { TableName: outputs.AddressesTableName, Item });
  await does('load unlock --yes', addresses, /#load/, { gone: true });
  await says('load follow', /\S/);
  await ask('dynamodb', 'delete_item', {
    TableName: outputs.AddressesTableName,
    Key: { address: { S: '1381AA#7#' } },
  });
  await does('load repair --yes', addresses, /1381AA#7#/);

  // A point in time, put to use, and back again, as docs/recovery.md#wrong-accounts has it. moto
  // restores the present.
  const restored = 'bag-adres-test-accounts-2';
  const since = `${new Date().toISOString().slice(0, 19)}Z`;
  const keptKey = await says('key create --account acme --label kept', /bagadres_acme_/);
  const goneKey = await says('key create --account acme --label gone', /bagadres_acme_/);
  await says('member add jo@example.nl --account acme --role viewer', /jo@example/);
  await ask('dynamodb', 'restore_table_to_point_in_time', {
    SourceTableName: TableName,
    TargetTableName: restored,
    UseLatestRestorableTime: true,
  });
  const inRestored = seen('dynamodb', 'scan', { TableName: restored });
  const record = { TableName, Key: keyOf('acme', `key#${idOf(goneKey)}`) };
  await does(
    `key revoke ${idOf(goneKey)} --account acme --yes`,
    seen('dynamodb', 'get_item', record),
    /"revoked"/,
  );
  await does('person erase jo@example.nl --yes', accounts, /jo@example\.nl/, { gone: true });
  const over = `restore carry-over --from ${TableName} --since ${since}`;
  const into = ['--accounts-table', restored];
  await says(over, new RegExp(`Revoke key ${idOf(goneKey)}[^]*Erase jo@example.nl`), into);
  await does(`${over} --yes`, inRestored, /jo@example\.nl/, { gone: true, where: into });
  await says(over, /Would repeat 0 changes/, into);
  const use = (tables: object) => cdk(aws, 'deploy', 'test', { ...settings, tables });
  await says('gate --stage test', /Nothing would be lost/, []);
  const stack = join(await operatorFolder(), 'node_modules/bag-adres/lib/data/data-stack.js');
  const released = readFileSync(stack, 'utf8');
  writeFileSync(stack, released.replace("table('Addresses'", "table('OtherAddresses'"));
  await says(
    'gate --stage test',
    /Addresses\w+ \(AWS::DynamoDB::Table\) is no longer in the template/,
    [],
  );
  writeFileSync(stack, released);
  await use({ accounts: { name: restored } });
  await says(
    'doctor',
    new RegExp(`${restored} lacks point-in-time recovery[^]*update-continuous-backups`),
  );
  await requests(aws, keptKey, findings);
  await says('key list --account acme', new RegExp(`${idOf(goneKey)}.*revoked`));
  await use({});
  await requests(aws, keptKey, findings);
  // DynamoDB makes such a backup of each table that is deleted.
  const { BackupDetails } = await ask('dynamodb', 'create_backup', {
    TableName,
    BackupName: 'deletion',
  });
  await ask('dynamodb', 'delete_table', { TableName });
  const { BackupArn } = BackupDetails;
  await ask('dynamodb', 'restore_table_from_backup', { TargetTableName: TableName, BackupArn });
  await says('account show acme', /kept/);
  await does('account suspend acme', accounts, /"suspended"/);
  await does('account delete acme --yes', accounts, /account delete/);
  findings.push(...objections(aws.notes()));
  return { findings, detail: `${count} commands` };
}

/**
 * What API Gateway and the schedule invoke the functions with, which may do only what their roles
 * allow.
 */
async function requests({ ask }: Aws, output: string, findings: string[]): Promise<void> {
  const { Functions } = await ask('lambda', 'list_functions');
  const headers = {
    'x-api-key': /bagadres_acme_\w+/.exec(output)?.[0] ?? '',
    'content-type': 'application/json',
  };
  const body = JSON.stringify({ addresses: [{ postcode: '1381AA', huisnummer: 7 }] });
  const url = '/v1/address?postcode=1381AA&huisnummer=7';
  const invocations = [
    ['Address', gatewayEvent(url, { headers }), /"ok/],
    ['Address', gatewayEvent(`${url}&include=objecten`, { headers }), /verblijfsobject/],
    ['Address', gatewayEvent('/v1/addresses', { method: 'POST', headers, body }), /"ok/],
    ['Validate', gatewayEvent('/v1/auth/validate', { headers }), /"valid":true/],
    ['Usage', {}, /^null$/],
  ] as const;
  for (const [name, event, expected] of invocations) {
    const { FunctionName } = Functions.find((candidate: Answer) =>
      candidate.FunctionName.includes(`-${name}Function`),
    );
    const { Payload } = await ask('lambda', 'invoke', {
      FunctionName,
      Payload: JSON.stringify(event),
    });
    if (!expected.test(Payload.replaceAll('\\', ''))) {
      findings.push(`the function ${name} answered ${Payload}`);
    }
  }
}
