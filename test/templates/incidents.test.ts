import { beforeAll, describe, expect, it } from '@jest/globals';
import {
  everything,
  ofType,
  portal,
  signIn,
  type Template,
  templates,
} from '../lib/synthesized.ts';
import { type Minute, notifications } from '../support/alarms.ts';
import { sweep } from '../support/sweep.ts';

const hour = 60;
const day = 24 * hour;
const certificate = 'arn:aws:acm:eu-central-1:123456789012:certificate';
const ends = (name: string) => `DaysToExpiry ${certificate}/${name}`;

/**
 * A deployment at 10:00 whose first load was at 14:00; `at` is in minutes since the midnight
 * before.
 */
function healthy(at: number): Minute {
  if (at < 10 * hour) return {};
  const minute: Minute = {
    'Count HttpApi': 0,
    '5xx HttpApi': 0,
    'Count Api': 1,
    '5xx Api': 0,
    'Invocations PortalFunction': 1,
  };
  const every = (minutes: number, from = 0) => at % minutes === from;
  if (every(5)) minute['PortalCanaryFailures portal-canary'] = 0;
  if (every(hour, 7)) {
    Object.assign(minute, {
      'Errors UsageFunction': 0,
      'ClientSecretDays portal-canary': 200,
      'BackupCopyAgeHours backup':
        Math.floor((at - (at < 2 * day ? 10 * hour : day + 3 * hour)) / hour) % 24,
    });
  }
  if (every(12 * hour)) Object.assign(minute, { [ends('0a1b2c')]: 300, [ends('0b1a2c')]: 300 });
  if (at < 14 * hour) return minute;
  if (every(5)) minute['CanaryFailures canary'] = 0;
  if (every(day, 5 * hour + 30)) {
    Object.assign(minute, {
      'DatasetAgeDays loader': 2,
      'TableDifferences loader': 0,
      'SetAsideAddresses loader': 0,
    });
  }
  // Nobody calls at night, and a stray error or a slow minute is no incident.
  if (at % day < 5 * hour) return minute;
  const lookups = 200 + (at % 7) * 10;
  return {
    ...minute,
    'Count HttpApi': lookups,
    'Invocations AddressFunction': lookups - 10,
    'Invocations ValidateFunction': 10,
    'Latency HttpApi': at % 11 === 0 ? 2600 : 40,
    '5xx HttpApi': at % 97 === 0 ? 1 : 0,
    'Requests unauthorized address': 3,
  };
}

/** API Gateway, Lambda and what our functions log do not arrive at the same moment. */
const delayOf = (metric: string) =>
  metric.startsWith('Invocations') || metric.startsWith('Errors') ? 2 : 1;

/** From 11:00 on the third day on. */
const begin = 2 * day + 11 * hour;
type Change = (minute: Minute, at: number) => Minute;
/**
 * Before the evening: what nobody calls has no errors, so an alarm ends in the night and begins
 * again.
 */
const today =
  (change: Change): Change =>
  (minute, at) =>
    at < begin + 9 * hour ? change(minute, at) : minute;

const instead =
  (values: Minute): Change =>
  (minute) => ({
    ...minute,
    ...Object.fromEntries(Object.entries(values).filter(([name]) => name in minute)),
  });
const added =
  (values: Minute): Change =>
  (minute) => ({ ...minute, ...values });
const atOnce =
  (metric: string, value = 1): Change =>
  (minute, at) =>
    at === begin ? { ...minute, [metric]: value } : minute;
const without =
  (...names: string[]): Change =>
  (minute) =>
    Object.fromEntries(Object.entries(minute).filter(([name]) => !names.includes(name)));
const failing =
  (share: number): Change =>
  (minute) => ({
    ...minute,
    '5xx HttpApi': Math.ceil((minute['Count HttpApi'] ?? 0) * share),
    ...('CanaryFailures canary' in minute && { 'CanaryFailures canary': 1 }),
  });

const incidents: [incident: string, change: Change, alarms: string[]][] = [
  ['a version crashes on every request', today(failing(1)), ['service AlarmsServerErrors']],
  [
    'a bug hits one request a minute',
    today(instead({ '5xx HttpApi': 1 })),
    ['service AlarmsServerErrors'],
  ],
  [
    'the accounts table is throttled, so that lookups are slow and some get 503',
    today((minute, at) => instead({ 'Latency HttpApi': 3700 })(failing(0.05)(minute, at), at)),
    ['service AlarmsServerErrors'],
  ],
  [
    'the concurrency of the account is used up',
    today((minute, at) => {
      const {
        'Count HttpApi': requests = 0,
        '5xx HttpApi': errors = 0,
        ...rest
      } = failing(0.4)(minute, at);
      return {
        ...rest,
        'Count HttpApi': requests,
        '5xx HttpApi': errors,
        'Invocations AddressFunction': requests - errors,
      };
    }),
    ['service AlarmsServerErrors'],
  ],
  ['DynamoDB is slow', today(instead({ 'Latency HttpApi': 2500 })), ['service AlarmsSlowAnswers']],
  [
    'a customer is throttled by the gateway',
    today(instead({ 'Count HttpApi': 900 })),
    ['service AlarmsGatewayThrottles'],
  ],
  [
    'somebody tries keys',
    added({
      'Requests unauthorized address': 900,
      'Count HttpApi': 1100,
      'Invocations AddressFunction': 1090,
    }),
    ['service AlarmsRefusedKeys'],
  ],
  [
    'connections to the database end without an answer, for one lookup in a thousand',
    today((minute, at) =>
      at % 5 === 0 ? { ...minute, '5xx HttpApi': 0, 'UnknownCharges address': 1 } : minute,
    ),
    ['service AlarmsUnknownCharges'],
  ],
  [
    'the host name no longer resolves',
    (minute, at) =>
      without('Count HttpApi', 'Latency HttpApi')(
        instead({ 'CanaryFailures canary': 1 })(minute, at),
        at,
      ),
    ['service CanaryFailedAlone'],
  ],
  ['the key of the canary is deleted', without('CanaryFailures canary'), ['service CanaryFailed']],
  [
    'a load fails, or the guard refuses it',
    atOnce('ExecutionsFailed LoadMachine'),
    ['loader AlarmsLoadFailed'],
  ],
  [
    'a load takes too long',
    atOnce('ExecutionsTimedOut LoadMachine'),
    ['loader AlarmsLoadTimedOut'],
  ],
  ['a load is stopped', atOnce('ExecutionsAborted LoadMachine'), ['loader AlarmsLoadStopped']],
  [
    'EventBridge takes no event of a load',
    atOnce('UnsentNotifications'),
    ['loader AlarmsNotificationUnsent'],
  ],
  [
    'the schedule of the loader is disabled',
    without('DatasetAgeDays loader', 'TableDifferences loader', 'SetAsideAddresses loader'),
    ['loader AlarmsDatasetOld'],
  ],
  [
    'the supplier publishes nothing',
    instead({ 'DatasetAgeDays loader': 7 }),
    ['loader AlarmsDatasetOld'],
  ],
  [
    'something else writes to the table for a day',
    (minute, at) =>
      at < begin + day ? instead({ 'TableDifferences loader': 2 })(minute, at) : minute,
    ['loader AlarmsTableDiffers'],
  ],
  [
    'a delivery does not match',
    instead({ 'SetAsideAddresses loader': 12 }),
    ['loader AlarmsSetAside'],
  ],
  [
    'an extract differs from the days of mutations',
    atOnce('AuditDifferences loader', 3),
    ['loader AlarmsAuditDifferences'],
  ],
  ['the usage job fails', instead({ 'Errors UsageFunction': 1 }), ['service UsageFailed']],
  [
    'the schedule of the usage job is disabled',
    without('Errors UsageFunction'),
    ['service UsageFailed'],
  ],
  [
    'AWS Backup no longer copies the accounts',
    (minute, at) =>
      instead({ 'BackupCopyAgeHours backup': Math.floor((at - 2 * day - 3 * hour) / hour) })(
        minute,
        at,
      ),
    ['data AccountsBackupLate'],
  ],
  [
    'a certificate is not renewed: at 45 and at 14 days',
    (minute, at) => instead({ [ends('0a1b2c')]: at < begin + day ? 44 : 13 })(minute, at),
    ['service HttpDomainEnds', 'service HttpDomainEndsSoon'],
  ],
  ['the certificate of the portal ends', instead({ [ends('0b1a2c')]: 20 }), ['portal DomainEnds']],
  [
    'the portal fails',
    instead({ '5xx Api': 20, 'PortalCanaryFailures portal-canary': 1 }),
    ['portal MonitoringUnreachable'],
  ],
  [
    'the provider of the portal does not answer',
    instead({ 'PortalCanaryFailures portal-canary': 1 }),
    ['portal MonitoringUnreachable'],
  ],
  ['the portal is flooded', instead({ 'Count Api': 400 }), ['portal MonitoringThrottled']],
  [
    'the provider refuses the portal',
    atOnce('PortalProviderRefusals'),
    ['portal MonitoringRefused'],
  ],
  [
    'the client secret is about to end',
    instead({ 'ClientSecretDays portal-canary': 59 }),
    ['portal MonitoringSecretEnds'],
  ],
];

describe('the alarms of the templates', () => {
  let stacks: Record<string, Template>;
  const ringing = (minutes: Minute[]) => {
    const { notifications: sent, everInAlarm } = notifications(stacks, minutes, delayOf);
    return {
      rings: sent.filter(({ state }) => state !== 'OK').map(({ alarm }) => alarm),
      everInAlarm,
    };
  };

  beforeAll(async () => {
    stacks = (await templates({ ...everything, portal: { ...portal, signIn } })).all;
  });

  it('notify nobody in a healthy first week, and roll no deployment back', () => {
    const { rings, everInAlarm } = ringing(Array.from({ length: 8 * day }, (_, at) => healthy(at)));
    expect(rings).toEqual([]);
    expect([...everInAlarm]).toEqual([]);
  });

  it.each(sweep(incidents, 1))('notify once of an incident: %s', (_, change, expected) => {
    const minutes = Array.from({ length: 5 * day }, (_, index) => {
      const at = begin - day + index;
      return at < begin ? healthy(at) : change(healthy(at), at);
    });
    expect(ringing(minutes).rings).toEqual(expected);
  });

  it('notify of an incident each', () => {
    const all = Object.entries(stacks).flatMap(([stack, template]) =>
      Object.keys(ofType(template, 'AWS::CloudWatch::Alarm')).map(
        (id) => `${stack} ${id.slice(0, -8)}`,
      ),
    );
    const noticed = incidents.flatMap(([, , alarms]) => alarms);
    expect(all.filter((alarm) => !noticed.includes(alarm))).toEqual(['portal DomainEndsSoon']);
  });
});
