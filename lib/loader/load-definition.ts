import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  Choice,
  type DistributedMap,
  type IChainable,
  Pass,
  type TaskStateBase,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import type { Construct } from 'constructs';
import { loaderErrors } from '../../loader/names.ts';
import { taken, when } from './load-conditions.ts';
import { LoadEndings } from './load-endings.ts';
import { lockSettles, sourceFaults } from './load-retries.ts';
import { mapState, stepState } from './load-states.ts';
import type { LoaderSteps } from './loader-steps.ts';

export type LoadDefinitionProps = { steps: LoaderSteps; bucket: IBucket; topic: ITopic; stage: string };

/** The states that start executions of their own, as many as there are batches. */
export const mapNames = ['Extract', 'Merge', 'Apply'] as const;

/**
 * The load as states, in JSONata. Variables: `ask` (the execution's input), `owner` (of the lock), `restarts`, then `action`,
 * `load` and `items` (where the next map finds its items), at last `ended` and `report`. Drawn in `loader/steps/README.md`.
 */
export function loadDefinition(scope: Construct, { steps, bucket, topic, stage }: LoadDefinitionProps): IChainable {
  const endings = new LoadEndings(scope, { release: steps.release, topic, stage });
  const begin = Pass.jsonata(scope, 'Begin', {
    assign: { ask: '{% $states.input %}', owner: '{% $states.context.Execution.Id %}', restarts: 0 },
  });
  const discover = stepState(scope, 'Discover', steps.discover, '$merge([$ask, {"owner": $owner}])');
  const apply = changesToServed(scope, { steps, bucket, endings, discover });
  const merge = shardsToChanges(scope, { steps, bucket, endings, apply });
  const stageState = extractToShards(scope, { steps, bucket, endings, discover, merge });

  discover.addRetry(lockSettles);
  discover.addRetry(sourceFaults);
  discover.addCatch(unlessDaily(scope, endings), {
    errors: [loaderErrors.locked],
    assign: { failure: '{% $states.errorOutput %}' },
  });
  endings.guarded(discover).next(
    Choice.jsonata(scope, 'WhatToDo', { assign: { ended: 'unchanged', report: '{% $states.input %}' } })
      .when(when("$states.input.action = 'load'"), stageState, { assign: taken('action', 'load') })
      .when(when("$states.input.action = 'rollback'"), merge, { assign: taken('action', 'load', 'items') })
      .when(when("$states.input.action = 'finish'"), apply, { assign: taken('action', 'load', 'items') })
      .otherwise(endings.release),
  );
  return begin.next(discover);
}

type Parts = { steps: LoaderSteps; bucket: IBucket; endings: LoadEndings };

/** The daily look has nothing to do while another load is at work; whoever asks for something must hear of it. */
function unlessDaily(scope: Construct, { done, fail }: LoadEndings): Choice {
  return Choice.jsonata(scope, 'WasItTheDailyLook')
    .when(when('$ask = {}'), done, { assign: { report: '{% $failure %}' } })
    .otherwise(fail);
}

/** Stage, Reference, Extract, Collect. An extract that is replaced while it is read is another load: it begins anew. */
function extractToShards(
  scope: Construct,
  { steps, bucket, endings, discover, merge }: Parts & { discover: TaskStateBase; merge: DistributedMap },
): TaskStateBase {
  const load = '{"load": $load}';
  const stage = stepState(scope, 'Stage', steps.stage, load);
  const wait = Wait.jsonata(scope, 'WaitForTheNewOne', { time: WaitTime.duration(Duration.minutes(5)) });
  wait.next(discover);
  const stillChanging = Choice.jsonata(scope, 'IsItStillChanging')
    .when(when('$restarts <= 3'), wait)
    .otherwise(endings.fail);
  stage.addRetry(sourceFaults);
  stage.addCatch(stillChanging, {
    errors: [loaderErrors.sourceChanged],
    assign: { restarts: '{% $restarts + 1 %}', failure: '{% $states.errorOutput %}' },
  });

  const batchInput = { load: '{% $load %}' };
  const extract = mapState(scope, 'Extract', {
    bucket,
    step: steps.extract,
    batchInput,
    itemsPerBatch: 1,
    concurrency: 10,
  });
  endings
    .guarded(stage)
    .next(endings.guarded(stepState(scope, 'Reference', steps.reference, load)))
    .next(Pass.jsonata(scope, 'PartsToExtract', { assign: taken('items') }))
    .next(endings.guarded(extract))
    .next(endings.guarded(stepState(scope, 'Collect', steps.collect, load)))
    .next(Pass.jsonata(scope, 'ShardsToMerge', { assign: taken('items') }))
    .next(merge);
  return stage;
}

/** Merge, Guard. A refused load ends here, before its first write. */
function shardsToChanges(
  scope: Construct,
  { steps, bucket, endings, apply }: Parts & { apply: DistributedMap },
): DistributedMap {
  const batchInput = { load: '{% $load %}' };
  const merge = mapState(scope, 'Merge', { bucket, step: steps.merge, batchInput, itemsPerBatch: 1, concurrency: 10 });
  endings
    .guarded(merge)
    .next(endings.guarded(stepState(scope, 'Guard', steps.guard, '$merge([$ask, {"load": $load, "owner": $owner}])')))
    .next(
      Choice.jsonata(scope, 'MayItGoOn', { assign: { ended: 'refused', ...taken('report') } })
        .when(when('$states.input.go'), apply, { assign: taken('items') })
        .when(when('$ask.planOnly = true'), endings.release, { assign: { ended: 'planned', ...taken('report') } })
        .otherwise(endings.release),
    );
  return merge;
}

/** Apply, Publish. A load that died while applying is finished this way first; what was asked for comes after it. */
function changesToServed(
  scope: Construct,
  { steps, bucket, endings, discover }: Parts & { discover: TaskStateBase },
): DistributedMap {
  const batchInput = { load: '{% $load %}', owner: '{% $owner %}' };
  const apply = mapState(scope, 'Apply', { bucket, step: steps.apply, batchInput, itemsPerBatch: 5, concurrency: 4 });
  endings
    .guarded(apply, endings.failLocked)
    .next(endings.guarded(stepState(scope, 'Publish', steps.publish, '{"load": $load, "owner": $owner}')))
    .next(
      Choice.jsonata(scope, 'WasItLeftOver', { assign: { ended: 'served', report: '{% $states.input %}' } })
        .when(when("$action = 'finish'"), discover)
        .otherwise(endings.release),
    );
  return apply;
}
