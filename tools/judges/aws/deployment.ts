import { everything, portal } from '../../../test/lib/synthesized.ts';
import { differsFromPage, type Judge } from '../judge.ts';
import { entra } from '../templates/configurations.ts';
import {
  type Answer,
  type Aws,
  bagAdres,
  bootstrap,
  cdk,
  type Note,
  objections,
  type Settings,
  startAws,
  withRole,
} from './aws.ts';

const { alarmEmail, backupVaultArn, budget, domain, encryptionKey } = everything;
const domainAt = (name: string) => ({ domain: { ...domain, name } });
const portalAt = (name: string) => ({ ...portal, ...domainAt(name) });
const kept: readonly Kind[] = ['tables', 'secrets', 'buckets', 'vaults', 'logs'];

/** What is deployed, by its stage, and the kinds of which everything stays when it is destroyed. */
const configurations: Readonly<Record<string, { settings: Settings; stays: readonly Kind[] }>> = {
  plain: { settings: {}, stays: kept },
  domain: { settings: { alarmEmail, budget, domain }, stays: kept },
  cognito: {
    settings: { portal: portalAt('cognito.example.nl'), dataset: { objecten: true } },
    stays: [...kept, 'pools'],
  },
  entra: {
    settings: {
      portal: { ...portalAt('entra.example.nl'), signIn: entra },
      removalPolicy: 'destroy',
    },
    stays: [],
  },
  encrypted: { settings: { encryptionKey, backupVaultArn }, stays: [...kept, 'keys'] },
};

/** Each setting is deployed after those before it; then boto3 reads what it did not before. */
const updates: readonly [Settings, RegExp][] = [
  [{ alarmEmail }, /beheer@example\.nl/],
  [{ logRetentionDays: 90 }, /"retentionInDays":90/],
  [{ throttle: { ratePerSecond: 77 } }, /"ThrottlingRateLimit":77/],
  [{ schedule: 'rate(7 days)' }, /rate\(7 days\)/],
  [{ loadConcurrency: 7 }, /concurrency\\":7\b/],
  [{ guard: { minimumAddresses: 7_654_321 } }, /7654321/],
  [{ testAddresses: false }, /"TEST_ADDRESSES":"off"/],
  [{ referencePage: false }, /"REFERENCE_PAGE":"off"/],
  [{ dashboards: true }, /"DashboardName":/],
  [{ usage: { months: 31 } }, /"USAGE_MONTHS":"31"/],
  [{ dataset: { objecten: true } }, /"DATASET_OBJECTEN":"on"/],
];

/**
 * How boto3 lists all of a kind, the member that identifies one, and what it says of that one by
 * it.
 */
const reads = {
  stacks: ['cloudformation', 'describe_stacks', 'Stacks', 'StackName'],
  tables: ['dynamodb', 'list_tables', 'TableNames', '', { describe_table: 'TableName' }],
  functions: ['lambda', 'list_functions', 'Functions', 'FunctionName'],
  machines: [
    'stepfunctions',
    'list_state_machines',
    'stateMachines',
    'stateMachineArn',
    { describe_state_machine: 'stateMachineArn' },
  ],
  secrets: ['secretsmanager', 'list_secrets', 'SecretList', 'ARN'],
  topics: ['sns', 'list_topics', 'Topics', 'TopicArn', { get_topic_attributes: 'TopicArn' }],
  subscriptions: ['sns', 'list_subscriptions', 'Subscriptions', 'SubscriptionArn'],
  buckets: ['s3', 'list_buckets', 'Buckets', 'Name'],
  roles: ['iam', 'get_account_authorization_details', 'RoleDetailList', 'RoleName'],
  keys: ['kms', 'list_keys', 'Keys', 'KeyId', { describe_key: 'KeyId' }],
  logs: ['logs', 'describe_log_groups', 'logGroups', 'logGroupName'],
  apis: [
    'apigatewayv2',
    'get_apis',
    'Items',
    'ApiId',
    { get_routes: 'ApiId', get_integrations: 'ApiId', get_stages: 'ApiId' },
  ],
  domains: [
    'apigatewayv2',
    'get_domain_names',
    'Items',
    'DomainName',
    { get_api_mappings: 'DomainName' },
  ],
  alarms: ['cloudwatch', 'describe_alarms', 'MetricAlarms', 'AlarmName'],
  dashboards: [
    'cloudwatch',
    'list_dashboards',
    'DashboardEntries',
    'DashboardName',
    { get_dashboard: 'DashboardName' },
  ],
  schedules: ['scheduler', 'list_schedules', 'Schedules', 'Name', { get_schedule: 'Name' }],
  plans: ['backup', 'list_backup_plans', 'BackupPlansList', 'BackupPlanId'],
  vaults: ['backup', 'list_backup_vaults', 'BackupVaultList', 'BackupVaultName'],
  pools: [
    'cognito-idp',
    'list_user_pools',
    'UserPools',
    'Id',
    { describe_user_pool: 'UserPoolId' },
  ],
} as const;

type Kind = keyof typeof reads;
/** What there is of each kind, and all that boto3 says of it, without times and states. */
type Found = { of: Record<Kind, string[]>; text: string };

async function read({ ask }: Aws): Promise<Found> {
  const of: Partial<Found['of']> = {};
  const answers: Answer[] = [];
  for (const [kind, [service, operation, list, member, details = {}]] of Object.entries(reads)) {
    const answer = await ask(service, operation, kind === 'pools' ? { MaxResults: 60 } : {});
    answers.push(answer[list]);
    const ids: string[] = answer[list]
      .map((entry: Answer) => (member ? entry[member] : entry))
      .sort();
    of[kind as Kind] = ids;
    for (const [detail, parameter] of Object.entries(details)) {
      for (const id of ids) answers.push(await ask(service, detail, { [parameter as string]: id }));
    }
  }
  const changing =
    /time|date|modified|revision|status|digest|policyversions|^CodeSha|^ResponseMetadata$/i;
  const text = JSON.stringify(answers, (name, value) => (changing.test(name) ? undefined : value));
  return { of: of as Found['of'], text };
}

/** The real command line of the CDK with a deployment for each configuration, read by boto3. */
export const deployment: Judge = {
  description:
    'moto: five configurations, eleven updates and a failed one, destroyed again, read by boto3',
  needs: [['python3', '-m', 'venv', '--help']],
  async judge() {
    const aws = await startAws();
    const findings: string[] = [];
    const notes: Note[] = [];
    try {
      await bootstrap(aws);
      await aws.ask('route53', 'create_hosted_zone', {
        Name: 'example.nl',
        CallerReference: 'judge',
      });
      await aws.ask('apigatewayv2', 'create_domain_name', { DomainName: 'taken.example.nl' });
      const deployer = await withRole(aws, 'bag-adres-deploy', 'deploy-policy.json');
      const reviewer = await withRole(aws, 'bag-adres-diff', 'diff-policy.json');
      await aws.checkAccess();
      for (const [stage, { settings, stays }] of Object.entries(configurations)) {
        const before = await read(aws);
        await cdk(deployer, 'deploy', stage, settings);
        // Whatever they find, each of their calls is permitted.
        await bagAdres(deployer, 'doctor', '--stage', stage).catch(() => undefined);
        await bagAdres(reviewer, 'gate', '--stage', stage).catch(() => undefined);
        const last = stage === 'plain' ? await update(deployer, stage, findings, notes) : settings;
        const deployed = await read(aws);
        findings.push(...unresolved(deployed, before).map((what) => `${stage}: ${what}`));
        notes.push(...aws.notes());
        await destroy(deployer, stage, last);
        const after = await read(aws);
        for (const kind of Object.keys(reads) as Kind[]) {
          const added = ({ of }: Found) =>
            of[kind].filter((id) => !before.of[kind].includes(id)).join();
          const expected = stays.includes(kind) ? added(deployed) : '';
          if (added(after) !== expected) {
            findings.push(`${stage}: ${added(after)} stays, not ${expected}`);
          }
        }
      }
    } catch (error) {
      findings.push(`${error}`.slice(-3_000));
    } finally {
      notes.push(...aws.notes());
      await aws.stop();
    }
    findings.push(...objections(notes), ...differsFromPage('moto', lacking(notes)));
    return {
      findings,
      detail: `${Object.keys(configurations).length} configurations, ${updates.length} updates`,
    };
  },
};

/** Deploys every update, and one that fails. @returns the settings at the end */
async function update(
  aws: Aws,
  stage: string,
  findings: string[],
  notes: Note[],
): Promise<Settings> {
  const first = await read(aws);
  let settings: Settings = {};
  let now: Found = first;
  for (const [setting, effect] of updates) {
    settings = { ...settings, ...setting };
    await cdk(aws, 'deploy', stage, settings);
    const after = await read(aws);
    if (effect.test(now.text) || !effect.test(after.text)) {
      findings.push(`${JSON.stringify(setting)} had no effect`);
    }
    now = after;
  }
  for (const kind of ['tables', 'machines', 'secrets', 'buckets', 'apis', 'vaults'] as const) {
    if (now.of[kind].join() !== first.of[kind].join()) {
      findings.push(`the updates replaced ${kind}`);
    }
  }
  const printed = await cdk(aws, 'deploy', stage, {
    ...settings,
    ...domainAt('taken.example.nl'),
  }).catch(String);
  const { Stacks } = await aws.ask('cloudformation', 'describe_stacks', {
    StackName: `bag-adres-${stage}-service`,
  });
  if (
    !/taken\.example\.nl|DomainName/.test(printed ?? '') ||
    Stacks[0].StackStatus !== 'UPDATE_ROLLBACK_COMPLETE'
  ) {
    findings.push(`a taken host name did not fail: ${Stacks[0].StackStatus} ${printed}`);
  }
  notes.push(...aws.notes().filter(({ failed }) => !failed?.startsWith(`bag-adres-${stage}`)));
  if ((await read(aws)).text !== now.text) findings.push('the failed update left something behind');
  await cdk(aws, 'deploy', stage, settings);
  return settings;
}

/**
 * Destroys a deployment as docs/deploy.md says: what is kept is protected until somebody says
 * otherwise.
 */
async function destroy(aws: Aws, stage: string, settings: Settings): Promise<void> {
  if (settings.removalPolicy !== 'destroy') {
    const refused = await cdk(aws, 'destroy', stage, settings).then(
      () => false,
      (error) => /TerminationProtection/.test(error),
    );
    if (!refused) throw new Error(`cdk destroy of ${stage} was not refused`);
    for (const part of ['portal', 'loader', 'service', 'data']) {
      const parameters = {
        StackName: `bag-adres-${stage}-${part}`,
        EnableTerminationProtection: false,
      };
      await aws
        .ask('cloudformation', 'update_termination_protection', parameters)
        .catch(() => undefined);
    }
  }
  await cdk(aws, 'destroy', stage, settings);
}

/**
 * What no deployment makes itself: of AWS, of the bootstrap, of other accounts and of operators.
 */
const foreign = new RegExp(
  ':aws:policy|:states:::|:event-bus/default|AWS_MANAGED_KEY|:alarm$|cdk-|bag-adres-(?:boundary|execution)' +
    // The pool of people has its name and that of its pages beside the id that boto3 lists it by.
    '|:999999999999:|:acm:|adres-sets|portal-client|PeoplePool|bag-adres-[0-9a-f]{12}$',
);

/** Values that nobody resolved, and names of what does not exist. */
function unresolved({ of, text }: Found, before: Found): string[] {
  const names = Object.values(of).flatMap((ids) => ids.map((id) => id.split(/[:/]/).at(-1) ?? ''));
  // A secret has six characters fewer in its name than in its ARN, and stacks begin with the name
  // of their deployment.
  const known = new Set(
    names
      .filter(Boolean)
      .flatMap((name) => [name, name.replace(/-\w{6}$/, ''), name.replace(/-(data|service)$/, '')]),
  );
  const values =
    text.match(/\$\{(?:Token|AWS)|\{\{resolve:[^}]*\}\}|"(?:Ref|Fn::\w+)":|\[object \w+\]/g) ?? [];
  const mentions = text.match(/arn:aws:[\w-]+:[\w-]*:\d*:[\w.:/-]*\w|bag-adres-[\w-]+/g) ?? [];
  const added = mentions.filter(
    (mention) => !before.text.includes(mention) && !foreign.test(mention),
  );
  const missing = added.filter((mention) => !mention.split(/[:/]/).some((part) => known.has(part)));
  return [...new Set([...values, ...missing])].map((what) => `${what} is not resolved`);
}

/** The table of what moto does not know, by type of resource. */
function lacking(notes: readonly Note[]): string {
  const rows = notes.flatMap(({ unknownType, notUpdated, unknownProperty }) => {
    const [, type, property] = /^([\w:]+)\.(.*)$/.exec(unknownProperty ?? '') ?? [];
    if (unknownType) return `| ${unknownType} | all of it |`;
    return notUpdated
      ? `| ${notUpdated} | updates |`
      : property
        ? `| ${type} | \`${property}\` |`
        : [];
  });
  return ['| type of resource | not known |', '|---|---|', ...[...new Set(rows)].sort()].join('\n');
}
