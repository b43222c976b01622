import {
  DescribeExecutionCommand,
  ExecutionAlreadyExists,
  ExecutionDoesNotExist,
  ListExecutionsCommand,
  SFNClient,
  StartExecutionCommand,
} from '@aws-sdk/client-sfn';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { mockClient } from 'aws-sdk-client-mock';
import { createLoads, type LoadsConfig } from '../../packages/admin/loads.ts';
import { type StateMachineBench, startStateMachineBench } from '../loader/state-machine-bench.ts';
import { january, march, tableOf } from '../loader/steps/months.ts';
import {
  type AddressService,
  startAddressService,
  testTables,
} from '../support/address-service.ts';

const stateMachine = 'arn:aws:states:eu-central-1:123456789012:stateMachine:loads';
const executions = stateMachine.replace('stateMachine', 'execution');
const $metadata = {};

let loader: StateMachineBench;
let accounts: AddressService;
let config: LoadsConfig;
const step = mockClient(SFNClient);

beforeAll(async () => {
  [loader, accounts] = await Promise.all([startStateMachineBench(), startAddressService()]);
  await loader.run({ source: await loader.serve(january) });
  expect(await loader.run({ source: await loader.serve(march) })).toMatchObject({
    error: 'LoadRefused',
  });
  config = {
    client: accounts.client,
    table: testTables.accounts,
    s3: loader.s3.client,
    bucket: loader.s3.bucket,
    stepFunctions: new SFNClient({ region: 'eu-central-1' }),
    stateMachine,
    actor: 'olaf@example.nl',
  };
});
afterAll(async () => {
  step.restore();
  await Promise.all([loader.stop(), accounts.stop()]);
});

describe('an approval in a portal', () => {
  it('starts the state machine once, which then makes the load live', async () => {
    const inputs: string[] = [];
    const ended = new Set<string>();
    step.on(ListExecutionsCommand).resolves({ executions: [] });
    step.on(StartExecutionCommand).callsFake(({ name, input }) => {
      if (ended.has(name)) throw new ExecutionAlreadyExists({ message: 'there is one', $metadata });
      inputs.push(input);
      return { executionArn: `${executions}:${name}` };
    });
    step.on(DescribeExecutionCommand).callsFake(({ executionArn }: { executionArn: string }) => {
      const name = executionArn.split(':').at(-1) ?? '';
      if (!executionArn.startsWith(`${executions}:approve-2026-03-08-`)) {
        throw new Error(`asked for ${executionArn}`);
      }
      if (inputs.length === 0) throw new ExecutionDoesNotExist({ message: 'none', $metadata });
      return { status: ended.has(name) ? 'SUCCEEDED' : 'RUNNING' };
    });

    const loads = createLoads(config);
    const [waiting] = await loads.waiting();
    expect(waiting).toMatchObject({
      peildatum: march.peildatum,
      livePeildatum: january.peildatum,
      approval: null,
    });
    const input = { load: waiting?.load ?? '', proposal: waiting?.proposal ?? '' };
    expect(await loads.approve(input)).toMatchObject({ started: true });
    expect(await loads.approve(input)).toMatchObject({ started: false });
    expect(inputs).toHaveLength(1);
    expect((await loads.show(input.load)).approval).toMatchObject({
      by: 'olaf@example.nl',
      state: 'running',
    });

    expect(await loader.run(JSON.parse(inputs[0] ?? ''))).toMatchObject({
      output: { peildatum: march.peildatum },
    });
    for (const { args } of step.commandCalls(StartExecutionCommand)) {
      ended.add(args[0].input.name ?? '');
    }
    expect(await loader.addresses()).toEqual(tableOf(march));
    expect(await loads.waiting()).toEqual([]);
    expect(await loads.register(1)).toMatchObject({
      peildatum: march.peildatum,
      loads: [{ peildatum: march.peildatum }],
    });
    expect(await loads.approve(input)).toMatchObject({ started: false });
  });

  it('reports which loads are running', async () => {
    const startDate = new Date('2026-03-09T05:00:00Z');
    const running = {
      executionArn: 'x',
      stateMachineArn: stateMachine,
      name: 'daily',
      status: 'RUNNING',
      startDate,
    } as const;
    step.on(ListExecutionsCommand).resolves({ executions: [running] });
    expect(await createLoads(config).running()).toEqual([
      { name: 'daily', since: '2026-03-09T05:00:00.000Z' },
    ]);
  });
});
