import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import {
  Choice,
  type DistributedMap,
  type IChainable,
  JitterType,
  Pass,
  type RetryProps,
  type TaskStateBase,
  Timeout,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import { CallAwsService } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { loaderErrors } from '../../loader/names.ts';
import {
  fromInput,
  LoadEndings,
  lockSettles,
  mapState,
  sourceFaults,
  sourceUnfinished,
  stepState,
  when,
} from './load-states.ts';
import type { LoaderSteps } from './loader-steps.ts';

export type LoadDefinitionProps = {
  steps: LoaderSteps['steps'];
  bucket: IBucket;
  stage: string;
  /** Functions that a map runs at once, at most; fewer where the account runs few. */
  concurrency: number;
  /** Functions that write to the table at once, at most; see `writersOf`. */
  writers: number;
  /** Whether the configuration names mutations, which are looked for again once an extract was published. */
  followsMutations: boolean;
};

type Writes = Pick<LoadDefinitionProps, 'followsMutations' | 'writers'>;

/** The Distributed Maps, which start one child execution for each batch. */
export const mapNames = ['Extract', 'Merge', 'Apply'] as const;

/**
 * The load as states, in JSONata. Variables: `request` (the execution's input), `owner` (of the lock), `restarts`,
 * `concurrency` (of a map), then `action`, `load` and `items` (the S3 object with the items of the next map),
 * `published` (the last that this execution published), finally `outcome` and `report`. See the diagram in
 * `loader/steps/README.md`.
 */
export function loadDefinition(scope: Construct, props: LoadDefinitionProps): IChainable {
  const { steps, bucket, stage, concurrency } = props;
  const endings = new LoadEndings(scope, { release: steps.release, stage });
  const begin = Pass.jsonata(scope, 'Begin', {
    assign: {
      request: '{% $states.input %}',
      owner: '{% $states.context.Execution.Id %}',
      restarts: 0,
      published: null,
      concurrency,
    },
  });
  const discover = stepState(scope, 'Discover', steps.discover, '$merge([$request, {"owner": $owner}])');
  const apply = applyAndPublish(scope, { ...props, endings, discover });
  const merge = mergeAndGuard(scope, { steps, bucket, endings, apply, discover });
  const segments = Pass.jsonata(scope, 'SegmentsToMerge', { assign: fromInput('items') });
  segments.next(merge);
  const mutate = endings.guarded(stepState(scope, 'Mutate', steps.mutate, '{"load": $load}'));
  mutate.next(segments);
  const stageState = stageAndExtract(scope, { steps, bucket, endings, discover, mutate, segments });

  discover.addRetry(lockSettles);
  discover.addRetry(sourceFaults);
  discover.addRetry(sourceUnfinished);
  discover.addCatch(failUnlessScheduled(scope, endings), {
    errors: [loaderErrors.locked],
    assign: { failure: '{% $states.errorOutput %}' },
  });
  endings.guarded(discover).next(
    Choice.jsonata(scope, 'ChooseAction', {
      assign: {
        outcome: "{% $published ? 'published' : 'unchanged' %}",
        report: '{% $published ? $published : $states.input %}',
      },
    })
      .when(when("$states.input.action = 'load'"), stageState, { assign: fromInput('action', 'load') })
      .when(when("$states.input.action = 'mutations'"), mutate, { assign: fromInput('action', 'load') })
      .when(when("$states.input.action = 'rollback'"), merge, { assign: fromInput('action', 'load', 'items') })
      .when(when("$states.input.action = 'finish'"), apply, { assign: fromInput('action', 'load', 'items') })
      .otherwise(endings.release),
  );
  return begin.next(quotaState(scope, discover));
}

type Parts = Pick<LoadDefinitionProps, 'steps' | 'bucket'> & { endings: LoadEndings };

/** Another load is running. That is a failure only for an execution that was requested, not for the scheduled check. */
function failUnlessScheduled(scope: Construct, { done, fail }: LoadEndings): Choice {
  return Choice.jsonata(scope, 'CheckIfScheduled')
    .when(when('$request = {}'), done, { assign: { report: '{% $failure %}' } })
    .otherwise(fail);
}

/**
 * Stage, Reference, Extract, Collect, and Mutate where days lead on to the live date. If the source replaces the
 * extract meanwhile, the load starts again from Discover.
 */
function stageAndExtract(
  scope: Construct,
  {
    steps,
    bucket,
    endings,
    discover,
    mutate,
    segments,
  }: Parts & Record<'discover' | 'mutate', TaskStateBase> & { segments: Pass },
): TaskStateBase {
  const load = '{"load": $load}';
  const stage = stepState(scope, 'Stage', steps.stage, load);
  const wait = Wait.jsonata(scope, 'WaitForNewExtract', { time: WaitTime.duration(Duration.minutes(5)) });
  wait.next(discover);
  const checkRestarts = Choice.jsonata(scope, 'CheckRestarts')
    .when(when('$restarts <= 3'), wait)
    .otherwise(endings.fail);
  stage.addRetry(sourceFaults);
  stage.addRetry(sourceUnfinished);
  stage.addCatch(checkRestarts, {
    errors: [loaderErrors.sourceChanged],
    assign: { restarts: '{% $restarts + 1 %}', failure: '{% $states.errorOutput %}' },
  });

  const batchInput = { load: '{% $load %}' };
  const extract = mapState(scope, 'Extract', {
    bucket,
    step: steps.extract,
    batchInput,
    itemsPerBatch: 1,
    concurrency: '$concurrency',
  });
  endings
    .guarded(stage)
    .next(endings.guarded(stepState(scope, 'Reference', steps.reference, load)))
    .next(Pass.jsonata(scope, 'PartsToExtract', { assign: fromInput('items') }))
    .next(endings.guarded(extract))
    .next(endings.guarded(stepState(scope, 'Collect', steps.collect, load)))
    .next(Choice.jsonata(scope, 'CheckForDays').when(when('$states.input.days > 0'), mutate).otherwise(segments));
  return stage;
}

/**
 * Merge, Guard. A refused load ends here, before its first write. Days that change too much together are tried in
 * smaller numbers.
 */
function mergeAndGuard(
  scope: Construct,
  { steps, bucket, endings, apply, discover }: Parts & { apply: DistributedMap; discover: TaskStateBase },
): DistributedMap {
  const batchInput = { load: '{% $load %}' };
  const merge = mapState(scope, 'Merge', {
    bucket,
    step: steps.merge,
    batchInput,
    itemsPerBatch: 1,
    concurrency: '$concurrency',
  });
  endings
    .guarded(merge)
    .next(
      endings.guarded(stepState(scope, 'Guard', steps.guard, '$merge([$request, {"load": $load, "owner": $owner}])')),
    )
    .next(
      Choice.jsonata(scope, 'CheckGuardResult', { assign: { outcome: 'refused', ...fromInput('report') } })
        .when(when('$states.input.go'), apply, { assign: fromInput('items') })
        .when(when('$states.input.divided'), discover)
        .when(when('$request.planOnly = true'), endings.release, {
          assign: { outcome: 'planned', ...fromInput('report') },
        })
        .otherwise(endings.release),
    );
  return merge;
}

/**
 * Apply, Publish. An interrupted load is finished this way first; then Discover looks at the request itself. After an
 * extract Discover looks for the mutations that lead on from it, and after days for what was wrong with the next one.
 */
function applyAndPublish(
  scope: Construct,
  { steps, bucket, endings, discover, followsMutations, writers }: Parts & Writes & { discover: TaskStateBase },
): DistributedMap {
  const published = { published: '{% $states.input %}' };
  const isFollowed = followsMutations ? 'true' : '$exists($request.mutations)';
  const batchInput = { load: '{% $load %}', owner: '{% $owner %}' };
  const apply = mapState(scope, 'Apply', {
    bucket,
    step: steps.apply,
    batchInput,
    // The country has 90 files: several batches for each writer, and few executions where there are four.
    itemsPerBatch: Math.max(1, Math.floor(20 / writers)),
    concurrency: `$min([${writers}, $concurrency])`,
  });
  endings
    .guarded(apply, endings.failLocked)
    .next(endings.guarded(stepState(scope, 'Publish', steps.publish, '{"load": $load, "owner": $owner}')))
    .next(
      Choice.jsonata(scope, 'CheckIfResumed', { assign: { outcome: 'published', report: '{% $states.input %}' } })
        .when(when("$action = 'finish'"), discover, { assign: published })
        // Days before a wrong one, on which Discover then fails, or before one that is judged by itself.
        .when(when('$exists($states.input.stopped) or $exists($states.input.more)'), discover, { assign: published })
        .when(when(`$action = 'load' and ${isFollowed}`), discover, {
          // `again` was about the extract, which would be loaded once more.
          assign: { ...published, request: '{% $merge([$request, {"again": false}]) %}' },
        })
        .otherwise(endings.release),
    );
  return apply;
}

/** The quota of Lambda could not be read. */
const quotaFaults: RetryProps = {
  errors: ['States.TaskFailed'],
  interval: Duration.seconds(2),
  backoffRate: 2,
  maxAttempts: 2,
  jitterStrategy: JitterType.FULL,
};

/**
 * Lowers the variable `concurrency` to a quarter of the functions that the account can run beside its reserved ones, as
 * a new account runs ten in total and lookups need most of them. If that can't be read, the variable stays and `next`
 * follows anyway.
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
  state.addRetry(quotaFaults);
  state.addCatch(next, { errors: ['States.ALL'], outputs: '{% $states.input %}' });
  state.next(next);
  return state;
}
