import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import {
  Choice,
  DistributedMap,
  type IChainable,
  ItemBatcher,
  Pass,
  ResultWriterV2,
  S3JsonItemReader,
  StateMachineType,
  type TaskStateBase,
  Timeout,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { loaderErrors, storagePrefixes } from '../../loader/names.ts';
import { type StepName, stepOf, stepsOfALoad } from '../../loader/steps/load-steps.ts';
import type { Config } from '../config/config-schema.ts';
import {
  fromInput,
  invocation,
  LoadEndings,
  lockSettles,
  MAP_RUNS,
  mapFaults,
  retryOn,
  stateName,
  taskState,
  when,
} from './load-states.ts';
import { type LoaderSteps, writersOf } from './loader-steps.ts';

export type LoadDefinitionProps = { config: Config; steps: LoaderSteps; bucket: IBucket };

/** The Distributed Maps, which start one child execution for each batch. */
export function mapNames(): string[] {
  return stepsOfALoad.filter((name) => stepOf(name).each).map(stateName);
}

/**
 * The load as states, in JSONata: a state for each step in the table, and choices after three
 * steps. Variables: `request` (the execution's input), `owner` (of the lock), `restarts`,
 * `concurrency` (of a map), then `action` and `load`, `published` (the last that this execution
 * published), finally `outcome` and `report`. See the diagram in `loader/steps/README.md`.
 */
export function loadDefinition(scope: Construct, props: LoadDefinitionProps): IChainable {
  const { config } = props;
  const { steps } = props.steps;
  const endings = new LoadEndings(scope, { steps, stage: config.stage });
  const begin = Pass.jsonata(scope, 'Begin', {
    assign: {
      request: '{% $states.input %}',
      owner: '{% $states.context.Execution.Id %}',
      load: "{% '' %}",
      restarts: 0,
      published: null,
      concurrency: config.loadConcurrency,
    },
  });
  const discover = taskState(scope, 'discover', steps);
  discover.addRetry(lockSettles);
  discover.addCatch(failUnlessScheduled(scope, endings), {
    errors: [loaderErrors.locked],
    assign: { failure: '{% $states.errorOutput %}' },
  });
  const states = new Map<StepName, TaskStateBase | DistributedMap>();
  // From the last on, as each leads to the next.
  let next: IChainable | undefined;
  for (const name of stepsOfALoad.toReversed()) {
    const { each, table, readsSource } = stepOf(name);
    const state = each ? mapOf(scope, name, props) : taskState(scope, name, steps);
    if (readsSource) startAgainIfReplaced(scope, state, endings, discover);
    // After an error of one worker that writes to the table, the others may still write.
    endings.guarded(state, each && table ? endings.failLocked : endings.fail);
    if (name === 'guard' && next) state.next(afterGuard(scope, endings, { discover, apply: next }));
    else {
      state.next(next ?? afterPublish(scope, endings, discover, config));
    }
    states.set(name, state);
    next = state;
  }
  const choose = Choice.jsonata(scope, 'ChooseAction', {
    assign: {
      outcome: "{% $published ? 'published' : 'unchanged' %}",
      report: '{% $published ? $published : $states.input %}',
    },
  });
  for (const [name, state] of states) {
    const { begins } = stepOf(name);
    if (begins) {
      choose.when(when(`$states.input.action = '${begins}'`), state, {
        assign: fromInput('action', 'load'),
      });
    }
  }
  endings.guarded(discover).next(choose.otherwise(endings.release));
  return begin.next(quotaState(scope, discover));
}
/**
 * Another load is running. That is a failure only for an execution that was requested, not for the
 * scheduled check.
 */
function failUnlessScheduled(scope: Construct, { done, fail }: LoadEndings): Choice {
  return Choice.jsonata(scope, 'CheckIfScheduled')
    .when(when('$request = {}'), done, { assign: { report: '{% $failure %}' } })
    .otherwise(fail);
}

/**
 * Runs a step over the items of a stored list, several batches at a time: fewer if they write to
 * the table. With no tolerated failure threshold one failed item fails the map: a missing slice
 * would mean missing addresses. Results go to S3, for investigation, so that no state's output
 * grows with the number of addresses.
 */
function mapOf(
  scope: Construct,
  name: StepName,
  { config, steps, bucket }: LoadDefinitionProps,
): DistributedMap {
  const { each, table } = stepOf(name);
  const id = stateName(name);
  const writers = writersOf(config);
  const state = DistributedMap.jsonata(scope, id, {
    label: id,
    mapExecutionType: StateMachineType.STANDARD,
    itemReader: new S3JsonItemReader({
      bucket,
      key: `{% '${storagePrefixes.loads}' & $load & '/${each}' %}`,
    }),
    itemBatcher: new ItemBatcher({
      // The country has 90 files of changes: several batches for each writer, and few executions
      // for four writers.
      maxItemsPerBatch: table ? Math.max(1, Math.floor(20 / writers)) : 1,
      batchInput: { load: '{% $load %}', owner: '{% $owner %}' },
    }),
    resultWriterV2: new ResultWriterV2({ bucket, prefix: `${MAP_RUNS}${name}` }),
    jsonataMaxConcurrency: table ? `{% $min([${writers}, $concurrency]) %}` : '{% $concurrency %}',
  });
  state.itemProcessor(invocation(scope, `${id}Batch`, steps.steps[name], '$states.input'));
  state.addRetry(mapFaults);
  return state;
}

/** If the source replaces the extract while a step reads it, the load starts again. */
function startAgainIfReplaced(
  scope: Construct,
  state: TaskStateBase | DistributedMap,
  { fail }: LoadEndings,
  discover: TaskStateBase,
): void {
  const wait = Wait.jsonata(scope, 'WaitForNewExtract', {
    time: WaitTime.duration(Duration.minutes(5)),
  });
  wait.next(discover);
  const checkRestarts = Choice.jsonata(scope, 'CheckRestarts')
    .when(when('$restarts <= 3'), wait)
    .otherwise(fail);
  state.addCatch(checkRestarts, {
    errors: [loaderErrors.sourceChanged],
    assign: { restarts: '{% $restarts + 1 %}', failure: '{% $states.errorOutput %}' },
  });
}

/**
 * A refused load ends before its first write. Days that change too much together are tried in
 * smaller numbers.
 */
function afterGuard(
  scope: Construct,
  { release }: LoadEndings,
  { discover, apply }: { discover: TaskStateBase; apply: IChainable },
): Choice {
  return Choice.jsonata(scope, 'CheckGuardResult', {
    assign: { outcome: 'refused', ...fromInput('report') },
  })
    .when(when('$states.input.go'), apply)
    .when(when('$states.input.divided'), discover)
    .when(when('$request.planOnly = true'), release, {
      assign: { outcome: 'planned', ...fromInput('report') },
    })
    .otherwise(release);
}

/**
 * Runs Discover again: after an interrupted load, which is finished first, for the request itself;
 * after an extract, for the mutations that follow it; after days, for the fault in the next day.
 */
function afterPublish(
  scope: Construct,
  { release }: LoadEndings,
  discover: TaskStateBase,
  { mutations }: Config,
): Choice {
  const published = { published: '{% $states.input %}' };
  const isFollowed = mutations ? 'true' : '$exists($request.mutations)';
  return (
    Choice.jsonata(scope, 'CheckIfResumed', {
      assign: { outcome: 'published', report: '{% $states.input %}' },
    })
      .when(when("$action = 'finish'"), discover, { assign: published })
      // After days before a faulty day, where Discover then fails, or before a day that is judged
      // by itself.
      .when(when('$exists($states.input.stopped) or $exists($states.input.more)'), discover, {
        assign: published,
      })
      .when(when(`$action = 'load' and ${isFollowed}`), discover, {
        // `again` was about the extract, which would be loaded once more.
        assign: { ...published, request: '{% $merge([$request, {"again": false}]) %}' },
      })
      .otherwise(release)
  );
}

/**
 * Lowers the variable `concurrency` to a quarter of the functions that the account can run beside
 * its reserved ones, because a new account runs ten in total and lookups need most. If the number
 * can't be read, the variable stays and `next` follows anyway.
 */
function quotaState(scope: Construct, next: IChainable): CallAwsService {
  const state = CallAwsService.jsonata(scope, 'ReadQuota', {
    service: 'lambda',
    action: 'getAccountSettings',
    // `machineRole` grants it.
    iamResources: ['*'],
    taskTimeout: Timeout.duration(Duration.minutes(1)),
    assign: {
      concurrency:
        '{% $min([$concurrency, $max([1, $floor($states.result.AccountLimit.UnreservedConcurrentExecutions / 4)])]) %}',
    },
    outputs: '{% $states.input %}',
  });
  state.addRetry(retryOn(['States.TaskFailed'], 2, 2));
  state.addCatch(next, { errors: ['States.ALL'], outputs: '{% $states.input %}' });
  state.next(next);
  return state;
}
