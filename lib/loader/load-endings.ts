import type { ITopic } from 'aws-cdk-lib/aws-sns';
import {
  Choice,
  type DistributedMap,
  Fail,
  type IChainable,
  Succeed,
  type TaskStateBase,
} from 'aws-cdk-lib/aws-stepfunctions';
import type { SnsPublish } from 'aws-cdk-lib/aws-stepfunctions-tasks';
import type { Construct } from 'constructs';
import { when } from './load-conditions.ts';
import { stepState, tellState } from './load-states.ts';
import type { LoaderStep } from './loader-step.ts';

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
      subject: subject("'the state of ' & $report.state & ' is served'"),
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
