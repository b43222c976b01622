import { lambdaErrors, stateErrors } from './errors.ts';
import type { Integration } from './frame.ts';
import type { Branch, MapState, State } from './schema.ts';

/** What a definition may name. */
export type Known = {
  integrations: Readonly<Record<string, Integration>>;
  functionErrors: readonly string[];
};

/** What is wrong with one state by itself, its states within and its expressions aside. */
export function checkState(state: State, known: Known): string[] {
  const issues: string[] = [];
  if ('End' in state || ('Next' in state && state.Next !== undefined)) {
    if ((state.Next === undefined) === (state.End === undefined)) issues.push('has both Next and End');
  } else if (!['Choice', 'Succeed', 'Fail'].includes(state.Type)) issues.push('has neither Next nor End');
  if (state.Type === 'Task') {
    const integration = known.integrations[state.Resource];
    if (integration) issues.push(...integration.check(state.Arguments));
    else issues.push(`the resource ${state.Resource} is not known`);
  }
  if (state.Type === 'Map') issues.push(...checkMap(state));
  if ('Retry' in state) {
    state.Retry.forEach(({ ErrorEquals, MaxDelaySeconds, IntervalSeconds }, index) => {
      issues.push(...checkErrors(ErrorEquals, index === state.Retry.length - 1, known));
      if (MaxDelaySeconds !== undefined && MaxDelaySeconds <= IntervalSeconds) {
        issues.push('MaxDelaySeconds must be greater than IntervalSeconds');
      }
    });
    state.Catch.forEach(({ ErrorEquals }, index) => {
      issues.push(...checkErrors(ErrorEquals, index === state.Catch.length - 1, known));
    });
  }
  return issues;
}

function checkErrors(names: string[], last: boolean, { functionErrors }: Known): string[] {
  const known: readonly string[] = [...stateErrors, ...lambdaErrors, ...functionErrors];
  const issues = names.filter((name) => !known.includes(name)).map((name) => `the error name ${name} is not known`);
  if (names.includes('States.Runtime')) issues.push('nothing retries or catches States.Runtime');
  if (names.includes('States.ALL') && (names.length > 1 || !last)) {
    issues.push('States.ALL must stand alone, in the last retrier or catcher');
  }
  return issues;
}

const distributedOnly = [
  'ItemReader',
  'ItemBatcher',
  'ResultWriter',
  'ToleratedFailureCount',
  'ToleratedFailurePercentage',
  'Label',
] as const;

function checkMap(state: MapState): string[] {
  const { ItemReader: reader, ItemBatcher: batcher, ResultWriter: writer, ItemProcessor: processor } = state;
  const issues: string[] = [];
  if (processor.ProcessorConfig.Mode === 'INLINE') {
    for (const field of distributedOnly) {
      if (state[field] !== undefined) issues.push(`${field} is for a Map in DISTRIBUTED mode`);
    }
    if (typeof state.MaxConcurrency === 'number' && state.MaxConcurrency > 40) {
      issues.push('an INLINE Map runs at most 40 iterations at once');
    }
    return issues;
  }
  if (reader) {
    if (state.Items !== undefined) issues.push('has both Items and ItemReader');
    const { Key, Prefix } = reader.Arguments;
    const { InputType } = reader.ReaderConfig;
    const lists = reader.Resource.endsWith(':listObjectsV2');
    if (lists && (InputType !== undefined || Key !== undefined)) issues.push('a listing has no InputType and no Key');
    if (!lists && (InputType === undefined || Key === undefined))
      issues.push('reading an object needs InputType and Key');
    if (!lists && Prefix !== undefined) issues.push('reading an object has no Prefix');
  }
  if (batcher && batcher.MaxItemsPerBatch === undefined && batcher.MaxInputBytesPerBatch === undefined) {
    issues.push('ItemBatcher needs MaxItemsPerBatch or MaxInputBytesPerBatch');
  }
  if (writer) {
    if ((writer.Resource === undefined) !== (writer.Arguments === undefined)) {
      issues.push('ResultWriter needs Resource and Arguments together');
    }
    if (!writer.Resource && !writer.WriterConfig) issues.push('ResultWriter is empty');
    if (writer.Arguments?.Key !== undefined) issues.push('ResultWriter has no Key');
  }
  if (processor.ProcessorConfig.ExecutionType === 'EXPRESS') issues.push(...longerThanExpress(processor));
  return issues;
}

/** An express execution ends after five minutes, whatever its tasks are allowed. */
const expressSeconds = 300;

function longerThanExpress({ States }: Branch): string[] {
  return Object.entries(States).flatMap(([name, state]) => {
    const seconds = state.Type === 'Task' ? state.TimeoutSeconds : undefined;
    const tooLong = typeof seconds === 'number' && seconds > expressSeconds;
    return tooLong ? [`${name} may take ${seconds} seconds, an EXPRESS execution ${expressSeconds}`] : [];
  });
}
