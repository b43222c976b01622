import type { Template } from '../lib/synthesized.ts';

/**
 * The alarms of synthesized templates, evaluated over given data as CloudWatch documents it: the
 * last data points of a somewhat longer range count, what is missing among them is treated as
 * configured, and only a change notifies.
 */

type Metric = {
  MetricName?: string;
  Dimensions?: { Value: unknown }[];
  Statistic?: string;
  Period?: number;
};
type MathMetric = {
  Id: string;
  Expression?: string;
  ReturnData?: boolean;
  Period?: number;
  MetricStat?: { Metric: Metric; Stat: string; Period: number };
};
type Properties = Metric & {
  Metrics?: MathMetric[];
  Threshold: number;
  ComparisonOperator: string;
  EvaluationPeriods: number;
  DatapointsToAlarm?: number;
  TreatMissingData: string;
  AlarmActions?: unknown[];
  OKActions?: unknown[];
  InsufficientDataActions?: unknown[];
  AlarmRule?: unknown;
  ActionsSuppressor?: unknown;
  ActionsSuppressorWaitPeriod?: number;
};

/**
 * What was measured in one minute, by metric: `Count HttpApi` is the metric and what it is of,
 * without a hash.
 */
export type Minute = Partial<Record<string, number>>;
export type State = 'ALARM' | 'OK' | 'INSUFFICIENT_DATA';
export type Notification = { alarm: string; state: State; minute: number };

type Series = (bucket: number, now: number) => number | undefined;
type Alarm = { id: string; periods: number; at: (minute: number) => State; properties: Properties };

/**
 * How many data points CloudWatch looks at beyond those that count; it does not document how many.
 */
const extraRange = 2;

/**
 * The notifications of these stacks, one after the other. `delays` are minutes until the data of a
 * metric is there.
 */
export function notifications(
  stacks: Record<string, Template>,
  minutes: readonly Minute[],
  delayOf: (metric: string) => number = () => 0,
): { notifications: Notification[]; everInAlarm: Set<string> } {
  const alarms: Alarm[] = [];
  const composites: Alarm[] = [];
  for (const [stack, { Resources }] of Object.entries(stacks)) {
    for (const [logicalId, { Type, Properties }] of Object.entries(Resources)) {
      const properties = Properties as Properties;
      const id = `${stack} ${bare(logicalId)}`;
      if (Type === 'AWS::CloudWatch::Alarm') {
        alarms.push({ id, properties, ...evaluated(properties) });
      }
      if (Type === 'AWS::CloudWatch::CompositeAlarm') {
        const child = `${stack} ${firstReference(properties.AlarmRule)}`;
        composites.push({
          id,
          properties,
          periods: 1,
          at: () => (states.get(child) === 'ALARM' ? 'ALARM' : 'OK'),
        });
      }
    }
  }

  function evaluated(properties: Properties): Pick<Alarm, 'at' | 'periods'> {
    const { series, minutesOf } = seriesOf(properties);
    const {
      EvaluationPeriods: of,
      DatapointsToAlarm: bad = of,
      Threshold,
      ComparisonOperator,
    } = properties;
    const breaches = (value: number) =>
      ComparisonOperator === 'LessThanThreshold' ? value < Threshold : value >= Threshold;
    let state: State = 'INSUFFICIENT_DATA';
    const at = (minute: number): State => {
      const last = Math.floor(minute / minutesOf);
      const found = Array.from({ length: of + extraRange }, (_, back) =>
        series(last - back, minute),
      )
        .filter((value) => value !== undefined)
        .slice(0, of);
      const breaching = found.filter(breaches).length;
      const missing = of - found.length;
      const isAlarm = (more: number) => breaching + more >= bad;
      if (properties.TreatMissingData === 'notBreaching') state = isAlarm(0) ? 'ALARM' : 'OK';
      else if (properties.TreatMissingData === 'ignore') {
        if (isAlarm(0)) state = 'ALARM';
        else if (found.length === of) state = 'OK';
      } else if (properties.TreatMissingData === 'breaching') {
        state = isAlarm(missing) ? 'ALARM' : 'OK';
      } else if (found.length === 0) state = 'INSUFFICIENT_DATA';
      else {
        state = isAlarm(breaching > 0 ? missing : 0) ? 'ALARM' : 'OK';
      }
      return state;
    };
    return { at, periods: minutesOf };
  }

  function seriesOf(properties: Properties): { series: Series; minutesOf: number } {
    const { Metrics, Statistic = properties.Statistic ?? 'Sum', Period = 300 } = properties;
    if (!Metrics) {
      return { series: measured(nameOf(properties), Statistic, Period), minutesOf: Period / 60 };
    }
    const byId = new Map<string, Series>();
    const seconds = Metrics.map(({ MetricStat }) => MetricStat?.Period ?? 0);
    // An expression may be before what it refers to.
    const series = (id: string): Series => {
      const known = byId.get(id);
      if (known) return known;
      const metric = Metrics.find(({ Id }) => Id === id);
      if (!metric) throw new Error(`There is no metric ${id}.`);
      const { MetricStat, Expression = '' } = metric;
      const made = MetricStat
        ? measured(nameOf(MetricStat.Metric), MetricStat.Stat, MetricStat.Period)
        : expression(Expression, series);
      byId.set(id, made);
      return made;
    };
    const result = Metrics.find(({ ReturnData }) => ReturnData !== false);
    return { series: series(result?.Id ?? ''), minutesOf: Math.max(...seconds) / 60 };
  }

  function measured(name: string, statistic: string, seconds: number): Series {
    const length = seconds / 60;
    const delay = delayOf(name);
    return (bucket, now) => {
      const values: number[] = [];
      for (
        let at = Math.max(0, bucket * length);
        at < (bucket + 1) * length && at + delay <= now;
        at++
      ) {
        const value = minutes[at]?.[name];
        if (value !== undefined) values.push(value);
      }
      if (values.length === 0) return undefined;
      if (statistic === 'Minimum') return Math.min(...values);
      if (statistic === 'Sum') return values.reduce((sum, value) => sum + value, 0);
      return Math.max(...values);
    };
  }

  const states = new Map<string, State>();
  const everInAlarm = new Set<string>();
  const sent: Notification[] = [];
  const waiting = new Map<string, number>();
  for (let minute = 0; minute < minutes.length; minute++) {
    for (const { id, properties, periods, at } of [...alarms, ...composites]) {
      // A day's data does not change every minute.
      if (minute % Math.max(1, Math.floor(periods / 24)) !== 0) continue;
      const before = states.get(id) ?? 'INSUFFICIENT_DATA';
      const state = at(minute);
      states.set(id, state);
      if (state === 'ALARM') everInAlarm.add(id);
      const { AlarmActions, OKActions, InsufficientDataActions, ActionsSuppressor } = properties;
      const actions =
        { ALARM: AlarmActions, OK: OKActions, INSUFFICIENT_DATA: InsufficientDataActions }[state] ??
        [];
      if (state !== before && actions.length > 0 && !ActionsSuppressor) {
        sent.push({ alarm: id, state, minute });
      }
      if (!ActionsSuppressor) continue;
      if (state !== 'ALARM') waiting.delete(id);
      else if (before !== 'ALARM') {
        waiting.set(id, minute + (properties.ActionsSuppressorWaitPeriod ?? 0) / 60);
      }
      const suppressor = `${id.split(' ')[0]} ${firstReference(ActionsSuppressor)}`;
      const since = waiting.get(id);
      if (since === undefined || minute < since || states.get(suppressor) === 'ALARM') continue;
      waiting.delete(id);
      sent.push({ alarm: id, state, minute });
    }
  }
  return { notifications: sent, everInAlarm };
}

/** A metric-math expression of the few functions that the stacks use. */
function expression(text: string, series: (id: string) => Series): Series {
  const filled = [...text.matchAll(/FILL\((\w+),/g)].map(([, id = '']) => id);
  const ids = [...new Set(text.match(/\b[a-z]\w*\b/g) ?? [])];
  const code = `return ${text.replaceAll(' AND ', ' && ')};`;
  const calculate = new Function('IF', 'FILL', ...ids, code) as (...values: unknown[]) => number;
  const IF = (condition: unknown, yes: number, no: number) => (condition ? yes : no);
  const FILL = (value: number | undefined, other: number) => value ?? other;
  return (bucket, now) => {
    const values = ids.map((id) => series(id)(bucket, now));
    if (ids.some((id, at) => values[at] === undefined && !filled.includes(id))) return undefined;
    return calculate(IF, FILL, ...values);
  };
}

/** `5xx HttpApi`: the metric, and the resource or the values of its dimensions. */
function nameOf({ MetricName, Dimensions = [] }: Metric): string {
  const of = Dimensions.map(({ Value }) =>
    typeof Value === 'string' ? Value : firstReference(Value),
  );
  return [MetricName, ...new Set(of)].join(' ');
}

/** The first resource that a value refers to. */
function firstReference(value: unknown): string {
  const [, id = ''] = /"(?:Ref|Fn::GetAtt)":\[?"(\w+)"/.exec(JSON.stringify(value)) ?? [];
  return bare(id);
}

function bare(logicalId: string): string {
  return logicalId.replace(/[0-9A-F]{8}$/, '');
}
