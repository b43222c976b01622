import { Duration } from 'aws-cdk-lib';
import type { IBucket } from 'aws-cdk-lib/aws-s3';
import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  Choice,
  Condition,
  type DistributedMap,
  Fail,
  type IChainable,
  Pass,
  Succeed,
  type TaskStateBase,
  Wait,
  WaitTime,
} from 'aws-cdk-lib/aws-stepfunctions';
import type { SnsPublish } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { loaderErrors } from '../../loader/names.ts';
import { lockSettles, mapState, sourceFaults, stepState, tellState } from './load-states.ts';
import type { LoaderStep } from './loader-step.ts';
import type { LoaderSteps } from './loader-steps.ts';

/** A condition in JSONata. */
export function when(expression: string): Condition {
  return Condition.jsonata(`{% ${expression} %}`);
}

/** Variables that take the members of these names from what a state is given. */
export function taken(...names: string[]): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, `{% $states.input.${name} %}`]));
}

export type LoadEndingsProps = { release: LoaderStep; topic: ITopic; stage: string };

/** The name of the state that ends a load which the guard refused; its entry is counted in the log. */
export const REFUSED = 'Refused';

const giveBack = '{"owner": $owner}';

/**
 * How a load can end. Whatever way it goes, who has to know is told. The lock on the table is given back, unless something
 * may still write: then the next load takes it over when that is over.
 */
export class LoadEndings {
  /** Ends a load as the variable `ended` says: `served`, `refused`, or without a word; `report` is the output. */
  readonly release: TaskStateBase;
  /** Ends a load with the error in the variable `failure`. */
  readonly fail: TaskStateBase;
  /** As `fail`, of a map that writes: its other Lambdas may be at work still, so the lock stays. */
  readonly failLocked: SnsPublish;
  /** Ends a load with the variable `report` as its output. */
  readonly done: Succeed;

  constructor(scope: Construct, { release, topic, stage }: LoadEndingsProps) {
    const subject = (text: string) => `'Address service ${stage}: ' & ${text}`;
    const report = '$string($report, true)';

    this.fail = stepState(scope, 'ReleaseAfterFailure', release, giveBack);
    this.failLocked = tellState(scope, 'TellFailure', topic, {
      subject: subject("'a load failed'"),
      // The line breaks are JSONata's own escapes: a validator takes none in an expression itself.
      message: "'What to do: docs/runbook.md#load-failed\\n\\n' & $string($failure, true)",
    });
    const failed = Fail.jsonata(scope, 'Failed', { error: '{% $failure.Error %}', cause: '{% $failure.Cause %}' });
    this.fail.addCatch(this.failLocked).next(this.failLocked).next(failed);

    this.done = Succeed.jsonata(scope, 'Done', { outputs: '{% $report %}' });
    const tellServed = tellState(scope, 'TellServed', topic, {
      subject: subject("'the state of ' & $report.peildatum & ' is served'"),
      message: report,
    });
    this.guarded(tellServed).next(this.done);

    const tellRefused = tellState(scope, 'TellRefused', topic, {
      subject: subject("'a load was refused'"),
      message: `'What is served stays as it was. What to do: docs/runbook.md#load-refused\\n\\n' & ${report}`,
    });
    const refused = Fail.jsonata(scope, REFUSED, { error: 'LoadRefused', cause: '{% $string($report.objections) %}' });
    this.guarded(tellRefused).next(refused);

    this.release = this.guarded(stepState(scope, 'Release', release, giveBack));
    this.release.next(
      Choice.jsonata(scope, 'HowItEnded')
        .when(when("$ended = 'served'"), tellServed)
        .when(when("$ended = 'refused'"), tellRefused)
        .otherwise(this.done),
    );
  }

  /** The state, of which any error that nothing else caught ends the load. */
  guarded<T extends TaskStateBase | DistributedMap>(state: T, end: IChainable = this.fail): T {
    state.addCatch(end, { errors: ['States.ALL'], assign: { failure: '{% $states.errorOutput %}' } });
    return state;
  }
}

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
